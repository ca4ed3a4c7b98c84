// The two panes of the selected unit, and the selection that runs both ways between them.

import { ByteGrid } from './bytes.ts';
import { byId, make } from './dom.ts';
import { FieldTree } from './fields.ts';
import { type Detail, type Frames, KIND, type Words } from './frames.ts';
import { sortOf, troubleOf } from './sort.ts';
import { count, counted, span } from './text.ts';

/** Faults behind which a direction is not read on, by the core's words. */
const GIVES_UP = new Set(['header', 'too-long', 'version-changed', 'handshake', 'undecoded']);

export class DetailPanes {
  private readonly words: Words;
  private readonly gapTag: number;
  private readonly onSearch: () => void;
  private readonly tree = new FieldTree(byId('fields', HTMLElement), (field) => this.selectField(field));
  private readonly grid = new ByteGrid(byId('bytes', HTMLElement), (byte) => this.selectByte(byte));
  private detail: Detail | null = null;

  /** `onSearch` reads the source again and searches for a boundary behind each fault. */
  constructor(words: Words, gapTag: number, onSearch: () => void) {
    this.words = words;
    this.gapTag = gapTag;
    this.onSearch = onSearch;
  }

  /** Shows a unit, null for none. `maySearch`: the source can be read again with guesses. */
  show(frames: Frames, unit: number | null, maySearch: boolean): void {
    this.detail = unit === null ? null : frames.detail(unit);
    this.tree.show(this.detail?.fields ?? null);
    this.grid.show(this.detail?.bytes ?? new Uint8Array(0), this.detail?.faultByte ?? -1);
    this.showFault(frames, unit, maySearch);
    const note = byId('fields-note', HTMLElement);
    if (unit === null || this.detail === null) {
      note.textContent = 'of the unit that is selected in the list';
      byId('bytes-note', HTMLElement).textContent = '';
      return;
    }
    const place = count(frames.offset(unit));
    note.textContent = `unit ${count(unit)}, ${sortOf(frames, unit)}, at byte ${place} of its direction`;
    this.showWhere(`${count(this.detail.bytes.length)} B`);
  }

  /** Selects a field and marks its bytes. */
  private selectField(field: number): void {
    const fields = this.detail?.fields;
    if (!fields || field < 0) {
      return;
    }
    this.tree.select(field);
    this.grid.mark(fields.start(field), fields.end(field), -1);
    this.showWhere(span(fields.start(field), fields.end(field)));
  }

  /** Selects a byte and the innermost field over it. */
  private selectByte(byte: number): void {
    const fields = this.detail?.fields;
    if (!fields) {
      return;
    }
    const field = fields.at(byte);
    this.tree.select(field);
    if (field < 0) {
      this.grid.mark(byte, byte + 1, byte);
      this.showWhere(`byte ${count(byte)}, in no field`);
      return;
    }
    this.grid.mark(fields.start(field), fields.end(field), byte);
    this.showWhere(`byte ${count(byte)} of ${span(fields.start(field), fields.end(field))}`);
  }

  private showFault(frames: Frames, unit: number | null, maySearch: boolean): void {
    const line = byId('fault', HTMLElement);
    const { detail } = this;
    line.hidden = detail === null || detail.fault === '';
    if (detail === null || unit === null || detail.fault === '') {
      return;
    }
    const isGap = troubleOf(frames, unit, this.gapTag) === 'gap';
    line.className = isGap ? 'faultline gap' : 'faultline';
    const read = frames.kinds[unit] === KIND.gap ? '' : ` ${whatWasRead(detail)}`;
    line.textContent = `${isGap ? '▼' : '✕'} ${detail.fault}.${read}`;
    const fault = this.words.faults[frames.faults[unit] ?? 0] ?? '';
    if (GIVES_UP.has(fault) && maySearch) {
      const button = make('button', '', 'Search for the next frame');
      button.type = 'button';
      button.title = 'Read the file again and take what looks like a frame for one: a guess, marked with ?';
      button.addEventListener('click', this.onSearch);
      line.append(' ', button);
    }
  }

  private showWhere(where: string): void {
    byId('bytes-note', HTMLElement).textContent = where;
  }
}

/** How far the reading of a faulty unit came. */
function whatWasRead(detail: Detail): string {
  const fields = counted(detail.fields.length, 'field');
  return `Still read: ${fields} of ${counted(detail.bytes.length, 'byte')}.`;
}
