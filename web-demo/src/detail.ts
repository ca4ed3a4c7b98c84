// The fields of one unit as the core packed them: fixed records and one text, decoded when shown.

/** Words of one record; the order is that of `twolane-wasm`'s `Detail`. */
export const WORDS = 8;

const DEPTH = 0;
const START = 1;
const VALUE_START = 2;
const END = 3;
const KIND = 4;
const NAME = 5;
const VALUE = 6;
const MEANING = 7;

/** The kinds of `twolane_core::dissect::NodeKind`, by their number. */
export const KINDS = [
  'group', 'integer', 'flags', 'bits', 'derived', 'object', 'array', 'string', 'number', 'bool',
  'null', 'bytes', 'unread', 'elided',
] as const;

const UTF8 = new TextDecoder();

export class Fields {
  /** Number of fields. They are in pre-order. */
  readonly length: number;

  private readonly records: Uint32Array;
  private readonly text: Uint8Array;

  constructor(records: Uint32Array, text: Uint8Array) {
    this.records = records;
    this.text = text;
    this.length = Math.floor(records.length / WORDS);
  }

  depth(field: number): number {
    return this.word(field, DEPTH);
  }

  /** Offset of the field's first byte, of its name where the wire carries one. */
  start(field: number): number {
    return this.word(field, START);
  }

  valueStart(field: number): number {
    return this.word(field, VALUE_START);
  }

  end(field: number): number {
    return this.word(field, END);
  }

  kind(field: number): (typeof KINDS)[number] {
    return KINDS[this.word(field, KIND) & 0xff] ?? 'bytes';
  }

  /** The field's bits in its one byte; 0 where it is whole bytes. */
  mask(field: number): number {
    return (this.word(field, KIND) >>> 8) & 0xff;
  }

  name(field: number): string {
    return this.slice(this.word(field, NAME), this.word(field, VALUE));
  }

  /** The value's first `limit` bytes of text; the whole of it where it is shorter. */
  value(field: number, limit = Infinity): string {
    const start = this.word(field, VALUE);
    const end = this.word(field, MEANING);
    return end - start <= limit ? this.slice(start, end) : `${this.slice(start, start + limit)}…`;
  }

  meaning(field: number): string {
    const end = field + 1 < this.length ? this.word(field + 1, NAME) : this.text.length;
    return this.slice(this.word(field, MEANING), end);
  }

  hasChildren(field: number): boolean {
    return field + 1 < this.length && this.depth(field + 1) > this.depth(field);
  }

  /** The field that holds this one, -1 for an outermost one. */
  parent(field: number): number {
    const depth = this.depth(field);
    let at = field - 1;
    while (at >= 0 && this.depth(at) >= depth) {
      at -= 1;
    }
    return at;
  }

  /** The innermost field of whole bytes over `byte`, -1 where there is none. */
  at(byte: number): number {
    let found = -1;
    for (let field = 0; field < this.length; field += 1) {
      const covers = this.start(field) <= byte && byte < this.end(field);
      if (covers && this.mask(field) === 0 && this.kind(field) !== 'derived') {
        found = field;
      }
    }
    return found;
  }

  private word(field: number, word: number): number {
    return this.records[field * WORDS + word] ?? 0;
  }

  private slice(start: number, end: number): string {
    return UTF8.decode(this.text.subarray(start, end));
  }
}
