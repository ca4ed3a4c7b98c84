// The keys that open the connector's seals. They live in the core's memory alone and are overwritten there.

import { Keyring } from './wasm/twolane_wasm.js';
import { type Detail, unpack } from './frames.ts';

/** A message's document, or why it stays closed. */
export type Opened =
  | { is: 'open'; detail: Detail; keyId: string }
  | { is: 'closed'; reason: string };

export class Seals {
  private readonly keys = new Keyring();

  /** How many keys there are. */
  get length(): number {
    return this.keys.len();
  }

  /** Takes a caller's secret beside those that are there; gives why it is none, else ''. */
  add(secret: string): string {
    const bytes = new TextEncoder().encode(secret);
    const fault = this.keys.add(bytes) ?? '';
    bytes.fill(0);
    return fault;
  }

  /** Forgets and overwrites all keys. */
  clear(): void {
    this.keys.clear();
  }

  /** Opens one message of the connector; null without a key. */
  open(message: Uint8Array): Opened | null {
    if (this.length === 0) {
      return null;
    }
    const packed = this.keys.open(message);
    const fault = packed.fault();
    const opened: Opened = fault === undefined
      ? { is: 'open', detail: unpack(packed.detail(), packed.bytes()), keyId: packed.key_id() }
      : { is: 'closed', reason: fault };
    packed.free();
    return opened;
  }
}
