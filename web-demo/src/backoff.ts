// How long to wait before the live tap is tried again.

const FIRST_MS = 500;
const LAST_MS = 15_000;

/** Milliseconds before attempt `attempt`, which counts from 0: doubles up to 15 s. */
export function waitMs(attempt: number): number {
  return Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(attempt, 16));
}
