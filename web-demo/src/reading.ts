// A file or a pasted text into the core, slice by slice.

import type { Frames } from './frames.ts';
import type { Job } from './pace.ts';

/** Bytes of one push: a few milliseconds of the core's work. */
const SLICE_BYTES = 256 * 1024;

/** Something to read: bytes that come in chunks. */
export interface Source {
  name: string;
  /** Bytes in all. */
  size: number;
  /** Its bytes from the beginning, as often as asked for. */
  open: () => ReadableStream<Uint8Array>;
}

/** How a reading ended. */
export interface Reading {
  /** What made the source unreadable, '' where all of it was read. */
  fault: string;
  /** Bytes that were read. */
  done: number;
  isCancelled: boolean;
}

/** Reads all of `source`; calls `onProgress` with the bytes read before each rest. */
export async function readInto(
  frames: Frames, source: Source, job: Job, onProgress: (done: number) => void,
): Promise<Reading> {
  const reader = source.open().getReader();
  let done = 0;
  let fault = '';
  try {
    for (;;) {
      const chunk = await reader.read();
      if (chunk.done || job.isCancelled || fault !== '') {
        break;
      }
      for (let at = 0; at < chunk.value.length && fault === '' && !job.isCancelled; at += SLICE_BYTES) {
        const slice = chunk.value.subarray(at, at + SLICE_BYTES);
        fault = frames.push(slice);
        done += slice.length;
        if (job.isDue) {
          onProgress(done);
          await job.rest();
        }
      }
    }
  } catch (error) {
    fault = `the browser cannot read ${source.name}: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    // The rest of the file is not wanted; failing to say so changes nothing.
    reader.cancel().catch(() => undefined);
  }
  if (!job.isCancelled) {
    fault = fault || frames.finish();
  }
  return { fault, done, isCancelled: job.isCancelled };
}

/** A file as a source. */
export function fileSource(file: File): Source {
  return { name: file.name || 'file', size: file.size, open: () => file.stream() };
}

/** A pasted text as a source. */
export function textSource(text: string): Source {
  const blob = new Blob([text]);
  return { name: 'pasted text', size: blob.size, open: () => blob.stream() };
}
