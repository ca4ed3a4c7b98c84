// The fields of the selected unit as a tree.

import { make, rowFor } from './dom.ts';
import type { Fields } from './detail.ts';
import { Rows } from './rows.ts';
import { span } from './text.ts';

const ROW_HEIGHT = 22;
const INDENT = 16;
/** Bytes of a value that a row shows; the bytes pane has the rest. */
const VALUE_SHOWN = 2048;

export class FieldTree {
  private readonly rows: Rows;
  private readonly scroll: HTMLElement;
  private fields: Fields | null = null;
  private folded = new Set<number>();
  /** The fields that no folded one hides. */
  private shown: number[] = [];
  private selected = -1;
  private rowIds = 0;

  constructor(scroll: HTMLElement, private readonly onSelect: (field: number) => void) {
    this.scroll = scroll;
    this.rows = new Rows({
      scroll,
      rowHeight: ROW_HEIGHT,
      create: () => this.createRow(),
      draw: (element, row) => this.drawRow(element, row),
    });
    scroll.addEventListener('keydown', (event) => this.keyed(event));
  }

  show(fields: Fields | null): void {
    this.fields = fields;
    this.folded.clear();
    this.selected = -1;
    this.scroll.scrollTop = 0;
    this.layOut();
  }

  /** Marks a field and unfolds what hides it; -1 for none. Does not call back. */
  select(field: number): void {
    this.selected = field;
    if (this.fields && field >= 0) {
      let hidden = false;
      for (let at = this.fields.parent(field); at >= 0; at = this.fields.parent(at)) {
        hidden = this.folded.delete(at) || hidden;
      }
      if (hidden) {
        this.layOut();
      }
    }
    this.rows.refresh();
    const row = this.shown.indexOf(field);
    this.rows.reveal(row);
    requestAnimationFrame(() => {
      const id = this.rows.elementOf(row)?.id;
      if (id) {
        this.scroll.setAttribute('aria-activedescendant', id);
      } else {
        this.scroll.removeAttribute('aria-activedescendant');
      }
    });
  }

  private layOut(): void {
    const { fields } = this;
    this.shown = [];
    let hiddenBelow = Infinity;
    for (let field = 0; fields && field < fields.length; field += 1) {
      const depth = fields.depth(field);
      if (depth > hiddenBelow) {
        continue;
      }
      hiddenBelow = this.folded.has(field) ? depth : Infinity;
      this.shown.push(field);
    }
    this.rows.setCount(this.shown.length);
    this.rows.refresh();
  }

  private fold(field: number, isFolded: boolean): void {
    if (isFolded) {
      this.folded.add(field);
    } else {
      this.folded.delete(field);
    }
    this.layOut();
  }

  private keyed(event: KeyboardEvent): void {
    const { fields, selected } = this;
    if (!fields || this.shown.length === 0 || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const row = rowFor(event.key, this.shown.indexOf(selected), this.rows.page, this.shown.length - 1);
    if (row !== null) {
      this.onSelect(this.shown[row] ?? 0);
    } else if (event.key === 'ArrowRight' && selected >= 0) {
      this.unfoldOrEnter(fields, selected);
    } else if (event.key === 'ArrowLeft' && selected >= 0) {
      this.foldOrLeave(fields, selected);
    } else {
      return;
    }
    event.preventDefault();
  }

  private unfoldOrEnter(fields: Fields, field: number): void {
    if (!fields.hasChildren(field)) {
      return;
    }
    if (this.folded.has(field)) {
      this.fold(field, false);
    } else {
      this.onSelect(field + 1);
    }
  }

  private foldOrLeave(fields: Fields, field: number): void {
    if (fields.hasChildren(field) && !this.folded.has(field)) {
      this.fold(field, true);
    } else if (fields.parent(field) >= 0) {
      this.onSelect(fields.parent(field));
    }
  }

  private createRow(): HTMLElement {
    const twist = make('span', 'twist');
    const element = make('div', 'row', twist, make('span', 'name'), make('span', 'value'), make('span', 'meaning'));
    this.rowIds += 1;
    element.id = `field-row-${this.rowIds}`;
    element.setAttribute('role', 'treeitem');
    twist.setAttribute('aria-hidden', 'true');
    element.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) {
        return;
      }
      const field = Number(element.dataset['field']);
      if (event.target === twist && this.fields?.hasChildren(field)) {
        this.fold(field, !this.folded.has(field));
      } else {
        this.onSelect(field);
      }
    });
    return element;
  }

  private drawRow(element: HTMLElement, row: number): void {
    const { fields } = this;
    const field = this.shown[row];
    if (!fields || field === undefined) {
      return;
    }
    const [twist, name, value, meaning] = element.children as unknown as HTMLElement[];
    const hasChildren = fields.hasChildren(field);
    const isFolded = this.folded.has(field);
    element.className = `row kind-${fields.kind(field)}`;
    element.dataset['field'] = String(field);
    element.style.paddingLeft = `${6 + fields.depth(field) * INDENT}px`;
    element.title = span(fields.start(field), fields.end(field));
    element.setAttribute('aria-level', String(fields.depth(field) + 1));
    element.setAttribute('aria-selected', String(field === this.selected));
    if (hasChildren) {
      element.setAttribute('aria-expanded', String(!isFolded));
    } else {
      element.removeAttribute('aria-expanded');
    }
    if (twist && name && value && meaning) {
      twist.textContent = hasChildren ? (isFolded ? '▸' : '▾') : '';
      name.textContent = fields.name(field);
      value.textContent = valueOf(fields, field);
      meaning.textContent = fields.meaning(field);
    }
  }
}

/** A value on one line; a part of a byte with the bits it is made of. */
function valueOf(fields: Fields, field: number): string {
  const value = fields.value(field, VALUE_SHOWN);
  const shown = fields.kind(field) === 'string' ? JSON.stringify(value) : value;
  return fields.mask(field) === 0 ? shown : `${bits(fields.mask(field))} ${shown}`;
}

/** `....##..`: which bits of the byte a mask takes. */
function bits(mask: number): string {
  return mask.toString(2).padStart(8, '0').replaceAll('0', '.').replaceAll('1', '#');
}
