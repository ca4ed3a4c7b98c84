// The units of the open capture, read out of the core's memory: one typed array a column.

import init, { Column, type Detail as Packed, Inspector, dissect, names } from './wasm/twolane_wasm.js';
import moduleAddress from './wasm/twolane_wasm_bg.wasm?url';
import { Fields } from './detail.ts';

/** `kind` of a unit, as `twolane_capture::row::Kind`. */
export const KIND = { handshake: 1, frame: 2, connector: 3, gap: 4, fault: 5 } as const;

/** `lane` of a unit. */
export const LANE = { none: 0, control: 1, display: 2 } as const;

/** Bits of `marks`. */
export const MARK = { guess: 1, cut: 2, verified: 4, refuted: 8 } as const;

/** `law` of a unit. */
export const LAW = { none: 0, kept: 1, joined: 2, broken: 3 } as const;

/** Room made beforehand at most; a longer source grows as it is read. */
const RESERVED_MAX = 512 * 1024 * 1024;

const NONE_32 = 0xffff_ffff;

/** One unit, taken apart. */
export interface Detail {
  fields: Fields;
  bytes: Uint8Array;
  /** One sentence: byte and reason; empty where all is well. */
  fault: string;
  /** The byte at fault, -1 where there is none. */
  faultByte: number;
}

let memory: WebAssembly.Memory;

/** Loads the core. Once, before anything else here. */
export async function loadCore(): Promise<void> {
  memory = (await init({ module_or_path: moduleAddress })).memory;
}

/** The open capture. Every view dies with the next `push`, which makes them anew. */
export class Frames {
  length = 0;
  kinds = new Uint8Array(0);
  types = new Uint8Array(0);
  lanes = new Uint8Array(0);
  tags = new Uint8Array(0);
  channels = new Uint16Array(0);
  epochs = new Uint32Array(0);
  connections = new Uint32Array(0);
  directions = new Uint8Array(0);
  lens = new Uint32Array(0);
  faults = new Uint8Array(0);
  laws = new Uint8Array(0);
  marks = new Uint8Array(0);
  /** Pairs of a 64-bit number's low and high half. */
  private corrs = new Uint32Array(0);
  private seqs = new Uint32Array(0);
  private times = new Uint32Array(0);
  private offsets = new Uint32Array(0);

  private readonly core: Inspector;

  /** `resync`: search for a boundary behind a fault, as a guess, instead of giving the direction up. */
  constructor(resync = false) {
    this.core = new Inspector(resync);
  }

  /** Nanoseconds since 1970 of the first unit, null where the source has no times. */
  get baseNs(): bigint | null {
    return this.core.base_ns() ?? null;
  }

  /** What the bytes were found to be: `pcap`, `pcapng`, `hex`, `base64`, `raw`; empty at first. */
  get format(): string {
    return this.core.format();
  }

  /** Bytes that the core holds. */
  get held(): number {
    return memory.buffer.byteLength;
  }

  /** Makes room for a source of so many bytes, so that growing does not stop the page later. */
  reserve(bytes: number): void {
    this.core.reserve(Math.min(bytes, RESERVED_MAX));
    this.look();
  }

  /** Reads the next bytes of the source; gives what makes it unreadable from here on, else ''. */
  push(bytes: Uint8Array): string {
    const fault = this.core.push(bytes) ?? '';
    this.look();
    return fault;
  }

  /** Says that the source ended; gives what was missing at its end, else ''. */
  finish(): string {
    const fault = this.core.finish() ?? '';
    this.look();
    return fault;
  }

  /** Nanoseconds after the first unit, null where the source has no times. */
  time(unit: number): number | null {
    return pair(this.times, unit);
  }

  corr(unit: number): bigint {
    return (BigInt(this.corrs[2 * unit + 1] ?? 0) << 32n) | BigInt(this.corrs[2 * unit] ?? 0);
  }

  /** The body's seq, null where it has none. */
  seq(unit: number): number | null {
    return pair(this.seqs, unit);
  }

  /** The unit's place in the bytes of its direction. */
  offset(unit: number): number {
    return pair(this.offsets, unit) ?? 0;
  }

  /** What a table says of the unit's content, in one line. */
  summary(unit: number): string {
    return this.core.summary(unit);
  }

  detail(unit: number): Detail {
    return unpack(this.core.detail(unit), this.core.unit_bytes(unit));
  }

  /** Compiles a filter; the empty one matches all. Gives where and why it cannot be read, else null. */
  setFilter(text: string): { offset: number; reason: string } | null {
    const fault = this.core.set_filter(text);
    if (!fault) {
      return null;
    }
    const result = { offset: fault.offset, reason: fault.reason() };
    fault.free();
    return result;
  }

  /** The units of `from..to` that match the filter. */
  matching(from: number, to: number): Uint32Array {
    return this.core.matching(from, to);
  }

  /** Takes a key to verify handshakes with; gives why it is none, else ''. */
  setKey(text: string): string {
    const fault = this.core.set_key(text) ?? '';
    this.look();
    return fault;
  }

  /** How many handshake proofs are right and wrong under the key. */
  get proofs(): { right: number; wrong: number } {
    return { right: this.core.verified(), wrong: this.core.refuted() };
  }

  /** Gives the memory back. Nothing else may be called after. */
  close(): void {
    this.core.free();
  }

  /** Makes the views anew: a push may have moved the columns or the memory itself. */
  private look(): void {
    const length = this.core.len();
    const bytes = (column: Column) => new Uint8Array(memory.buffer, this.core.column(column), length);
    const words = (column: Column, each = 1) =>
      new Uint32Array(memory.buffer, this.core.column(column), each * length);
    this.length = length;
    this.kinds = bytes(Column.Kinds);
    this.types = bytes(Column.Types);
    this.lanes = bytes(Column.Lanes);
    this.tags = bytes(Column.Tags);
    this.directions = bytes(Column.Directions);
    this.faults = bytes(Column.Faults);
    this.laws = bytes(Column.Laws);
    this.marks = bytes(Column.Marks);
    this.channels = new Uint16Array(memory.buffer, this.core.column(Column.Channels), length);
    this.epochs = words(Column.Epochs);
    this.connections = words(Column.Connections);
    this.lens = words(Column.Lens);
    this.corrs = words(Column.Corrs, 2);
    this.seqs = words(Column.Seqs, 2);
    this.times = words(Column.Times, 2);
    this.offsets = words(Column.Offsets, 2);
  }
}

/** A 64-bit number as a figure; null for the largest, which stands for none. Exact up to 2^53. */
function pair(halves: Uint32Array, unit: number): number | null {
  const low = halves[2 * unit] ?? NONE_32;
  const high = halves[2 * unit + 1] ?? NONE_32;
  return low === NONE_32 && high === NONE_32 ? null : high * 2 ** 32 + low;
}

/** Takes bytes apart that no capture surrounds: a `frame`, a handshake message by its stage, a `connector` message, a `document`. */
export function takeApart(kind: string, bytes: Uint8Array): Detail | null {
  const packed = dissect(kind, bytes);
  return packed ? unpack(packed, bytes) : null;
}

/** What the core packed, as the panes show it. */
export function unpack(packed: Packed, bytes: Uint8Array): Detail {
  const detail = {
    fields: new Fields(packed.records(), packed.text()),
    bytes,
    fault: packed.fault() ?? '',
    faultByte: packed.fault_byte() ?? -1,
  };
  packed.free();
  return detail;
}

/** The core's own words for the codes of frame types, payload tags and faults; '' where there is none. */
export interface Words {
  types: string[];
  tags: string[];
  faults: string[];
}

/** The words, asked for once. */
export function words(): Words {
  const [types = [], tags = [], faults = []] = names().split('\n').map((line) => line.split(' '));
  return { types, tags, faults };
}
