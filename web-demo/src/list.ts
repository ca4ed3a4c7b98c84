// The list of units: one row each, drawn from the columns.

import { make, rowFor } from './dom.ts';
import { type Frames, KIND, LAW, MARK, type Words } from './frames.ts';
import type { Matches } from './matches.ts';
import { Rows } from './rows.ts';
import { sortOf, troubleOf } from './sort.ts';
import { absoluteTime, count, relativeTime } from './text.ts';

const ROW_HEIGHT = 22;
const COLUMNS = ['#', 'Time', 'Conn', 'Dir', 'Lane', 'Type', 'Gen', 'Corr', 'Seq', 'Size', 'Summary'];
const FIGURES = new Set(['#', 'Time', 'Conn', 'Gen', 'Corr', 'Seq', 'Size']);
const DIRECTIONS = [
  { sign: '→', words: 'from a, which opened the connection, to b' },
  { sign: '←', words: 'from b to a, which opened the connection' },
];

const TROUBLE_SIGNS = { gap: '▼', fault: '✕' };

export class List {
  readonly rows: Rows;

  private readonly scroll: HTMLElement;
  private readonly words: Words;
  private readonly gapTag: number;
  private frames: Frames;
  private matches: Matches;
  private selected: number | null = null;
  private rowIds = 0;

  constructor(
    scroll: HTMLElement, head: HTMLElement, words: Words, frames: Frames, matches: Matches,
    private readonly onSelect: (unit: number) => void,
  ) {
    this.scroll = scroll;
    this.words = words;
    this.gapTag = words.tags.indexOf('display_gap');
    this.frames = frames;
    this.matches = matches;
    head.append(...COLUMNS.map((name) => {
      const cell = make('span', FIGURES.has(name) ? 'figure' : '', name);
      cell.setAttribute('role', 'columnheader');
      return cell;
    }));
    scroll.setAttribute('aria-colcount', String(COLUMNS.length));
    this.rows = new Rows({
      scroll,
      rowHeight: ROW_HEIGHT,
      headHeight: ROW_HEIGHT,
      create: () => this.createRow(),
      draw: (element, row) => this.drawRow(element, row),
    });
    scroll.addEventListener('keydown', (event) => this.keyed(event));
  }

  /** Shows another capture. */
  show(frames: Frames, matches: Matches): void {
    this.frames = frames;
    this.matches = matches;
    this.selected = null;
    this.update();
    this.rows.refresh();
  }

  /** The number of rows has changed. */
  update(): void {
    this.rows.setCount(this.matches.length);
    this.scroll.setAttribute('aria-rowcount', String(this.matches.length + 1));
  }

  select(unit: number | null, reveal = true): void {
    this.selected = unit;
    this.rows.refresh();
    const row = unit === null ? -1 : this.matches.rowOf(unit);
    if (reveal && row >= 0) {
      this.rows.reveal(row);
    }
    // The row exists once it is drawn.
    requestAnimationFrame(() => {
      const id = this.rows.elementOf(row)?.id;
      if (id) {
        this.scroll.setAttribute('aria-activedescendant', id);
      } else {
        this.scroll.removeAttribute('aria-activedescendant');
      }
    });
  }

  private keyed(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || this.matches.length === 0) {
      return;
    }
    const last = this.matches.length - 1;
    const current = this.selected === null ? -1 : this.matches.nearestRow(this.selected);
    const row = rowFor(event.key, current, this.rows.page, last);
    if (row !== null) {
      event.preventDefault();
      this.onSelect(this.matches.unitAt(row));
    }
  }

  private createRow(): HTMLElement {
    const element = make('div', 'row', ...COLUMNS.map((name) => {
      const cell = make('span', FIGURES.has(name) ? 'figure' : '');
      cell.setAttribute('role', 'gridcell');
      return cell;
    }));
    this.rowIds += 1;
    element.id = `unit-row-${this.rowIds}`;
    element.setAttribute('role', 'row');
    element.addEventListener('pointerdown', (event) => {
      if (event.button === 0) {
        this.onSelect(Number(element.dataset['unit']));
      }
    });
    return element;
  }

  private drawRow(element: HTMLElement, row: number): void {
    const { frames } = this;
    const unit = this.matches.unitAt(row);
    const trouble = troubleOf(frames, unit, this.gapTag);
    classes(element, trouble === null ? 'row' : `row ${trouble}`);
    element.dataset['unit'] = String(unit);
    element.setAttribute('aria-rowindex', String(row + 2));
    if (element.ariaSelected !== String(unit === this.selected)) {
      element.ariaSelected = String(unit === this.selected);
    }
    const [number, time, connection, direction, lane, type, generation, corr, seq, size, summary] =
      element.children as unknown as HTMLElement[];
    const isFrame = frames.kinds[unit] === KIND.frame;
    const isWhole = isFrame || frames.kinds[unit] === KIND.connector;

    set(number, count(unit));
    this.drawTime(time, unit);
    set(connection, String(frames.connections[unit]));
    const way = DIRECTIONS[frames.directions[unit] ?? 0];
    set(direction, way?.sign ?? '', way?.words);
    this.drawLane(lane, unit);
    set(type, isWhole && trouble !== null ? `${TROUBLE_SIGNS[trouble]} ${this.typeOf(unit)}` : this.typeOf(unit));
    classes(type, isWhole ? (trouble ?? '') : 'dim');
    set(generation, isFrame ? this.generationOf(unit) : '', isFrame ? 'stream_gen' : '');
    set(corr, isFrame ? String(frames.corr(unit)) : '');
    this.drawSeq(seq, unit);
    set(size, `${count(frames.lens[unit] ?? 0)} B`);
    set(summary, frames.summary(unit), 'whole');
  }

  private drawTime(cell: HTMLElement | undefined, unit: number): void {
    const time = this.frames.time(unit);
    const base = this.frames.baseNs;
    if (time === null || base === null) {
      set(cell, '-', 'the source has no times');
      return;
    }
    set(cell, relativeTime(time), absoluteTime(base + BigInt(time)));
  }

  private drawLane(cell: HTMLElement | undefined, unit: number): void {
    const sort = sortOf(this.frames, unit);
    const guess = ((this.frames.marks[unit] ?? 0) & MARK.guess) !== 0;
    set(cell, guess ? `${sort}?` : sort, guess ? 'found by searching for a boundary: a guess' : '');
    classes(cell, `sort ${sort}`);
  }

  private drawSeq(cell: HTMLElement | undefined, unit: number): void {
    const seq = this.frames.seq(unit);
    const isBroken = this.frames.laws[unit] === LAW.broken;
    const text = seq === null ? '' : count(seq);
    set(cell, text, isBroken ? 'does not follow the seq before it' : '');
  }

  private generationOf(unit: number): string {
    const epoch = this.frames.epochs[unit] ?? 0;
    const channel = this.frames.channels[unit] ?? 0;
    return epoch === 0 ? String(channel) : `${epoch}:${channel}`;
  }

  private typeOf(unit: number): string {
    const tag = this.words.tags[this.frames.tags[unit] ?? 255];
    return tag || this.words.types[this.frames.types[unit] ?? 255] || '';
  }
}

/**
 * Sets a cell's text, and what it says on hover: `whole` for the text itself. What is there already stays untouched: a
 * change is laid out anew, and most cells of a row that is used again say what they said before.
 */
function set(cell: HTMLElement | undefined, text: string, title = ''): void {
  if (!cell) {
    return;
  }
  const hover = title === 'whole' ? text : title;
  const shown = cell.firstChild;
  if (!(shown instanceof Text)) {
    cell.textContent = text;
  } else if (shown.data !== text) {
    shown.data = text;
  }
  if (cell.title !== hover) {
    cell.title = hover;
  }
}

/** Sets an element's classes where they are others. */
function classes(element: HTMLElement | undefined, names: string): void {
  if (element && element.className !== names) {
    element.className = names;
  }
}
