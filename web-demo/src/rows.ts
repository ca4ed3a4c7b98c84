// A list of rows of one height, of any length: the rows in sight exist, and are used again.

import {
  Virtualizer, elementScroll, observeElementOffset, observeElementRect,
} from '@tanstack/virtual-core';

import { hasDrifted, placeOf, rowAt, trackLength } from './track.ts';

const OVERSCAN = 6;

export interface RowsOptions {
  scroll: HTMLElement;
  rowHeight: number;
  /** Pixels at the top of `scroll` that a sticky head covers. */
  headHeight?: number;
  /** An empty row, once for each place in sight. */
  create: () => HTMLElement;
  /** Fills a row for the row numbered `row`. */
  draw: (element: HTMLElement, row: number) => void;
}

interface Slot {
  element: HTMLElement;
  place: number;
  row: number;
  stamp: number;
}

export class Rows {
  private readonly options: RowsOptions;
  private readonly track: HTMLElement;
  private readonly virtualizer: Virtualizer<HTMLElement, HTMLElement>;
  private readonly unmount: () => void;
  private slots: Slot[] = [];
  private rows = 0;
  /** Row number less place on the track. */
  private shift = 0;
  private lastTop = 0;
  /** Grows when drawn rows no longer show what they should. */
  private stamp = 0;
  private scheduled = 0;

  constructor(options: RowsOptions) {
    this.options = options;
    this.track = document.createElement('div');
    this.track.className = 'track';
    this.track.setAttribute('role', 'presentation');
    options.scroll.append(this.track);
    this.virtualizer = new Virtualizer<HTMLElement, HTMLElement>(this.settings());
    this.unmount = this.virtualizer._didMount();
    this.virtualizer._willUpdate();
  }

  get count(): number {
    return this.rows;
  }

  /** Whole rows that fit. */
  get page(): number {
    const height = this.options.scroll.clientHeight - (this.options.headHeight ?? 0);
    return Math.max(1, Math.floor(height / this.options.rowHeight));
  }

  /** The first and last row in sight. */
  get inSight(): { first: number; last: number } {
    const first = Math.max(0, Math.round(this.topPlace() + this.shift));
    return { first, last: Math.max(first, Math.min(this.rows - 1, first + this.page - 1)) };
  }

  /** Sets how many rows there are; `refresh` where those shown before may look different now. */
  setCount(rows: number): void {
    const before = this.rows;
    this.rows = rows;
    if (trackLength(rows) !== trackLength(before)) {
      this.track.style.height = `${trackLength(rows) * this.options.rowHeight}px`;
      this.virtualizer.setOptions(this.settings());
      this.virtualizer._willUpdate();
    }
    if (rows < before) {
      this.shift = Math.max(0, Math.min(this.shift, rows - trackLength(rows)));
    }
    this.schedule();
  }

  /** Draws every row in sight again. */
  refresh(): void {
    this.stamp += 1;
    this.schedule();
  }

  /** Brings `row` in sight: by the shortest way, or to the middle where it is far. */
  reveal(row: number): void {
    if (row < 0 || row >= this.rows) {
      return;
    }
    const { first, last } = this.inSight;
    const page = this.page;
    if (row >= first && row <= last && last - first + 1 >= Math.min(page, this.rows)) {
      this.schedule();
      return;
    }
    let top = row - Math.floor(page / 2);
    if (row === first - 1 || (row < first && row >= first - page)) {
      top = row;
    } else if (row > last && row <= last + page) {
      top = row - page + 1;
    }
    this.jump(Math.max(0, Math.min(top, this.rows - page)));
  }

  /** Shows the last rows. */
  revealEnd(): void {
    this.jump(Math.max(0, this.rows - this.page));
    this.options.scroll.scrollTop = this.options.scroll.scrollHeight;
  }

  get isAtEnd(): boolean {
    const { scroll } = this.options;
    return scroll.scrollTop + scroll.clientHeight >= scroll.scrollHeight - this.options.rowHeight;
  }

  /** The element of `row` where it is drawn. */
  elementOf(row: number): HTMLElement | null {
    return this.slots.find((slot) => slot.row === row)?.element ?? null;
  }

  /** Takes the rows away and stops to watch the element. */
  remove(): void {
    cancelAnimationFrame(this.scheduled);
    this.unmount();
    this.track.remove();
  }

  private jump(top: number): void {
    const place = placeOf(top, this.rows);
    this.shift = top - place;
    this.lastTop = place;
    this.options.scroll.scrollTop = place * this.options.rowHeight;
    this.schedule();
  }

  private settings() {
    const { scroll, rowHeight } = this.options;
    return {
      count: trackLength(this.rows),
      getScrollElement: () => scroll,
      estimateSize: () => rowHeight,
      overscan: OVERSCAN,
      scrollToFn: elementScroll,
      observeElementRect,
      observeElementOffset,
      onChange: () => this.schedule(),
    };
  }

  private topPlace(): number {
    return this.options.scroll.scrollTop / this.options.rowHeight;
  }

  /** Draws with the next frame, once, however much changes before it. */
  private schedule(): void {
    if (this.scheduled === 0) {
      this.scheduled = requestAnimationFrame(() => {
        this.scheduled = 0;
        this.drawInSight();
      });
    }
  }

  private drawInSight(): void {
    this.followTrack();
    const places = this.virtualizer.getVirtualIndexes();
    const needed = places.length;
    while (this.slots.length < needed) {
      const element = this.options.create();
      this.track.append(element);
      this.slots.push({ element, place: -1, row: -1, stamp: -1 });
    }
    const wanted = new Set(places);
    const free = this.slots.filter((slot) => !wanted.has(slot.place));
    const taken = new Map(
      this.slots.filter((slot) => wanted.has(slot.place)).map((slot) => [slot.place, slot]),
    );
    for (const place of places) {
      const slot = taken.get(place) ?? free.pop();
      if (slot) {
        this.fill(slot, place);
      }
    }
    for (const slot of free) {
      slot.place = -1;
      slot.row = -1;
      slot.element.hidden = true;
    }
  }

  private fill(slot: Slot, place: number): void {
    const row = place + this.shift;
    if (slot.place !== place) {
      slot.place = place;
      slot.element.style.transform = `translateY(${place * this.options.rowHeight}px)`;
    }
    if (slot.row !== row || slot.stamp !== this.stamp) {
      slot.row = row;
      slot.stamp = this.stamp;
      slot.element.hidden = row >= this.rows;
      if (row < this.rows) {
        this.options.draw(slot.element, row);
      }
    }
  }

  /** On a track shorter than the list: decides which rows the places in sight stand for. */
  private followTrack(): void {
    const top = Math.round(this.topPlace());
    if (this.rows === trackLength(this.rows)) {
      this.shift = 0;
      this.lastTop = top;
      return;
    }
    if (Math.abs(top - this.lastTop) > 2 * this.page) {
      this.shift = rowAt(top, this.rows) - top;
    } else if (hasDrifted(top, top + this.shift, this.rows)) {
      const row = top + this.shift;
      const place = placeOf(row, this.rows);
      this.shift = row - place;
      this.options.scroll.scrollTop = place * this.options.rowHeight;
      this.lastTop = place;
      return;
    }
    this.lastTop = top;
  }
}
