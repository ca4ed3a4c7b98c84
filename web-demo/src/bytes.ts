// The bytes of the selected unit: offset, hexadecimal, ASCII.

import { make, rowFor } from './dom.ts';
import { Rows } from './rows.ts';
import { hexByte, offset, printable } from './text.ts';

const ROW_HEIGHT = 22;
const WIDE = 16;
const NARROW = 8;
/** A pane narrower than this shows eight bytes a row. */
const WIDE_FROM_PX = 580;

export class ByteGrid {
  private rows: Rows;
  private readonly scroll: HTMLElement;
  private perRow = WIDE;
  private bytes = new Uint8Array(0);
  private faultByte = -1;
  private cursor = -1;
  private start = 0;
  private end = 0;
  private cellIds = 0;

  constructor(scroll: HTMLElement, private readonly onSelect: (byte: number) => void) {
    this.scroll = scroll;
    this.rows = this.makeRows();
    scroll.addEventListener('keydown', (event) => this.keyed(event));
    scroll.addEventListener('pointerdown', (event) => {
      const target = event.target;
      if (event.button === 0 && target instanceof HTMLElement && target.dataset['byte']) {
        this.onSelect(Number(target.dataset['byte']));
      }
    });
    new ResizeObserver(() => this.fit()).observe(scroll);
  }

  show(bytes: Uint8Array, faultByte: number): void {
    this.bytes = bytes.slice();
    this.faultByte = faultByte;
    this.cursor = -1;
    this.start = 0;
    this.end = 0;
    this.scroll.scrollTop = 0;
    this.layOut();
  }

  /** Marks `start..end`, with the cursor at `cursor` (-1 for none). Does not call back. */
  mark(start: number, end: number, cursor: number): void {
    this.start = start;
    this.end = end;
    this.cursor = cursor;
    this.rows.refresh();
    if (this.bytes.length > 0) {
      const target = cursor >= 0 ? cursor : Math.min(start, this.bytes.length - 1);
      this.rows.reveal(Math.floor(target / this.perRow));
    }
    requestAnimationFrame(() => {
      const cell = this.scroll.querySelector('.hex.at');
      if (cell) {
        this.scroll.setAttribute('aria-activedescendant', cell.id);
      } else {
        this.scroll.removeAttribute('aria-activedescendant');
      }
    });
  }

  private fit(): void {
    const perRow = this.scroll.clientWidth >= WIDE_FROM_PX ? WIDE : NARROW;
    if (perRow !== this.perRow) {
      this.perRow = perRow;
      this.rows.remove();
      this.rows = this.makeRows();
      this.layOut();
    }
  }

  private layOut(): void {
    this.rows.setCount(Math.ceil(this.bytes.length / this.perRow));
    this.rows.refresh();
  }

  private makeRows(): Rows {
    return new Rows({
      scroll: this.scroll,
      rowHeight: ROW_HEIGHT,
      create: () => this.createRow(),
      draw: (element, row) => this.drawRow(element, row),
    });
  }

  private keyed(event: KeyboardEvent): void {
    if (this.bytes.length === 0 || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const last = this.bytes.length - 1;
    const at = this.cursor >= 0 ? this.cursor : Math.min(this.start, last);
    const step = new Map([['ArrowLeft', -1], ['ArrowRight', 1]]).get(event.key);
    const lastRow = Math.floor(last / this.perRow);
    const row = rowFor(event.key, Math.floor(at / this.perRow), this.rows.page, lastRow);
    let wanted: number;
    if (this.cursor < 0 && (step !== undefined || row !== null)) {
      wanted = at;
    } else if (step !== undefined) {
      wanted = at + step;
    } else if (event.key === 'Home') {
      wanted = 0;
    } else if (event.key === 'End') {
      wanted = last;
    } else if (row !== null) {
      wanted = row * this.perRow + (at % this.perRow);
    } else {
      return;
    }
    event.preventDefault();
    this.onSelect(Math.max(0, Math.min(last, wanted)));
  }

  private createRow(): HTMLElement {
    const cell = (className: string): HTMLElement => {
      const element = make('span', className);
      element.setAttribute('role', 'gridcell');
      return element;
    };
    const row = make('div', 'row', make('span', 'offset'));
    row.setAttribute('role', 'row');
    for (let at = 0; at < this.perRow; at += 1) {
      const hex = cell('hex');
      this.cellIds += 1;
      hex.id = `byte-cell-${this.cellIds}`;
      row.append(hex);
    }
    for (let at = 0; at < this.perRow; at += 1) {
      const ascii = make('span', 'ascii');
      ascii.setAttribute('aria-hidden', 'true');
      row.append(ascii);
    }
    return row;
  }

  private drawRow(element: HTMLElement, row: number): void {
    const first = row * this.perRow;
    const cells = element.children as unknown as HTMLElement[];
    if (cells[0]) {
      cells[0].textContent = offset(first, this.bytes.length);
    }
    for (let at = 0; at < this.perRow; at += 1) {
      const byte = first + at;
      const value = this.bytes[byte];
      const hex = cells[1 + at];
      const ascii = cells[1 + this.perRow + at];
      if (!hex || !ascii) {
        return;
      }
      const state = this.stateOf(byte, value);
      hex.className = `hex${at === this.perRow / 2 ? ' half' : ''}${state}`;
      ascii.className = `ascii${at === 0 ? ' first' : ''}${state}`;
      hex.textContent = value === undefined ? '' : hexByte(value);
      ascii.textContent = value === undefined ? '' : printable(value);
      hex.dataset['byte'] = value === undefined ? '' : String(byte);
      ascii.dataset['byte'] = hex.dataset['byte'];
    }
  }

  private stateOf(byte: number, value: number | undefined): string {
    if (value === undefined) {
      return '';
    }
    let state = value === 0 ? ' zero' : '';
    if (byte >= this.start && byte < this.end) {
      state += ' in';
    }
    if (byte === this.cursor) {
      state += ' at';
    }
    return byte === this.faultByte ? `${state} wrong` : state;
  }
}
