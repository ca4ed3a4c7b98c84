// The two panes of the selected unit, and the selection that runs both ways between them.

import { ByteGrid } from './bytes.ts';
import { byId, make } from './dom.ts';
import { FieldTree } from './fields.ts';
import { type Detail, type Frames, KIND, type Words } from './frames.ts';
import type { Opened, Seals } from './seals.ts';
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
  /** Shows what is under a seal where it opens. */
  private wantsDocument = true;
  private again = (): void => undefined;

  /** `onSearch` reads the source again and searches for a boundary behind each fault. */
  constructor(words: Words, gapTag: number, private readonly seals: Seals, onSearch: () => void) {
    this.words = words;
    this.gapTag = gapTag;
    this.onSearch = onSearch;
    this.sideButton('message').addEventListener('click', () => this.chooseSide(false));
    this.sideButton('document').addEventListener('click', () => this.chooseSide(true));
  }

  /** Shows a unit, null for none. `maySearch`: the source can be read again with guesses. */
  show(frames: Frames, unit: number | null, maySearch: boolean): void {
    this.again = () => this.show(frames, unit, maySearch);
    const message = unit === null ? null : frames.detail(unit);
    const isSealed = unit !== null && frames.kinds[unit] === KIND.connector;
    const opened = isSealed && message ? this.seals.open(message.bytes) : null;
    const document = opened?.is === 'open' && this.wantsDocument ? opened.detail : null;
    this.detail = document ?? message;
    this.tree.show(this.detail?.fields ?? null);
    this.grid.show(this.detail?.bytes ?? new Uint8Array(0), this.detail?.faultByte ?? -1);
    this.showFault(frames, unit, opened, maySearch);
    this.showSides(opened);
    const note = byId('fields-note', HTMLElement);
    this.sayNothing(frames, unit);
    if (unit === null || this.detail === null) {
      note.textContent = '';
      note.title = '';
      byId('bytes-note', HTMLElement).textContent = '';
      return;
    }
    const place = count(frames.offset(unit));
    const seal = isSealed ? sealOf(opened) : '';
    note.textContent = `unit ${count(unit)}, ${sortOf(frames, unit)}, at byte ${place} of its direction${seal}`;
    note.title = note.textContent;
    this.showWhere(document ? `${count(document.bytes.length)} B under the seal` : `${count(this.detail.bytes.length)} B`);
  }

  /** Changes between a message and its document, where it is open. */
  turn(): void {
    if (!byId('sides', HTMLElement).hidden) {
      this.chooseSide(!this.wantsDocument);
    }
  }

  private chooseSide(wantsDocument: boolean): void {
    this.wantsDocument = wantsDocument;
    this.again();
  }

  private sideButton(side: 'message' | 'document'): HTMLButtonElement {
    return byId(`side-${side}`, HTMLButtonElement);
  }

  private showSides(opened: Opened | null): void {
    byId('sides', HTMLElement).hidden = opened?.is !== 'open';
    this.sideButton('message').setAttribute('aria-pressed', String(!this.wantsDocument));
    this.sideButton('document').setAttribute('aria-pressed', String(this.wantsDocument));
  }

  /** Says in a pane that shows nothing why it does. */
  private sayNothing(frames: Frames, unit: number | null): void {
    const isGap = unit !== null && frames.kinds[unit] === KIND.gap;
    const say = (pane: 'fields' | 'bytes', isEmpty: boolean, why: string): void => {
      const line = byId(`${pane}-nothing`, HTMLElement);
      line.hidden = !isEmpty;
      line.textContent = isEmpty ? why : '';
    };
    if (unit === null) {
      const why = frames.length === 0
        ? 'No unit yet. What the selected one is made of appears here.'
        : 'No unit is selected: click one in the list, or go there with the arrow keys.';
      say('fields', true, why);
      say('bytes', true, why);
      return;
    }
    const bytes = this.detail?.bytes.length ?? 0;
    say('fields', (this.detail?.fields.length ?? 0) === 0, isGap
      ? 'What is not in the capture has no fields. The units before and behind it show what it lies between.'
      : `No field: ${bytes === 0 ? 'nothing is kept of it' : 'these bytes are no whole unit, and what one of them means is not known'}.`);
    say('bytes', bytes === 0, isGap ? 'These bytes are not in the capture.' : 'No byte of this unit is kept.');
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

  private showFault(frames: Frames, unit: number | null, opened: Opened | null, maySearch: boolean): void {
    const line = byId('fault', HTMLElement);
    const { detail } = this;
    line.hidden = detail === null || (detail.fault === '' && opened?.is !== 'closed');
    if (detail?.fault === '' && opened?.is === 'closed') {
      line.className = 'faultline';
      line.textContent = `✕ Not opened: ${opened.reason}.`;
      return;
    }
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

/** What the keys say of a message. */
function sealOf(opened: Opened | null): string {
  if (opened === null) {
    return '; sealed: give a key (k) to open it';
  }
  return opened.is === 'open' ? `; opened with key ${opened.keyId}` : '';
}

/** How far the reading of a faulty unit came. */
function whatWasRead(detail: Detail): string {
  const fields = counted(detail.fields.length, 'field');
  return `Still read: ${fields} of ${counted(detail.bytes.length, 'byte')}.`;
}
