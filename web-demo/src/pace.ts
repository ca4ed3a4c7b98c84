// Long work in the page's own thread: in slices, so that the page stays quick, and to be cancelled.

/** Milliseconds of work between two chances for the page to draw and to hear a key. */
const SLICE_MS = 12;

/** A piece of long work. */
export class Job {
  isCancelled = false;
  private sliceBegan = performance.now();

  cancel(): void {
    this.isCancelled = true;
  }

  /** Whether the slice is used up; then `await rest()`. */
  get isDue(): boolean {
    return performance.now() - this.sliceBegan >= SLICE_MS;
  }

  /** Lets everything that waits run first. */
  async rest(): Promise<void> {
    await nextTask();
    this.sliceBegan = performance.now();
  }
}

/** A message to oneself is a task without the four milliseconds that a timer waits at least. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
