// The line that says how things stand, and the progress of what takes long.

import type { Job } from './pace.ts';

/** A wait shorter than this shows nothing: it would only flicker. */
const PATIENCE_MS = 200;

export class Status {
  private job: Job | null = null;
  private timer = 0;

  constructor(
    private readonly line: HTMLElement, private readonly box: HTMLElement,
    private readonly bar: HTMLProgressElement, cancel: HTMLButtonElement,
  ) {
    cancel.addEventListener('click', () => this.cancel());
  }

  /** Sets the line; `isBad` for what the reader should not overlook. */
  say(text: string, isBad = false): void {
    if (this.line.textContent !== text) {
      this.line.textContent = text;
      this.line.title = text;
    }
    this.line.classList.toggle('bad', isBad);
  }

  /** Shows the job once it has run for a while. */
  begin(job: Job): void {
    clearTimeout(this.timer);
    this.job = job;
    this.bar.removeAttribute('value');
    this.timer = window.setTimeout(() => {
      this.box.hidden = false;
    }, PATIENCE_MS);
  }

  /** How much of the job is done, 0 to 1. */
  progress(job: Job, done: number): void {
    if (this.job === job) {
      this.bar.value = done;
    }
  }

  end(job: Job): void {
    if (this.job === job) {
      clearTimeout(this.timer);
      this.job = null;
      this.box.hidden = true;
    }
  }

  /** Stops what runs; false where nothing does. */
  cancel(): boolean {
    this.job?.cancel();
    return this.job !== null;
  }
}
