// The page's elements by id, and small ones made in code.

/** The element of `index.html` with that id; its absence is a fault of this page. */
export function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof type)) {
    throw new Error(`index.html has no ${type.name} with the id ${id}`);
  }
  return element;
}

/** A new element with class names and content. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K, className = '', ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className !== '') {
    element.className = className;
  }
  element.append(...content);
  return element;
}

/** The same key handling for every list: the row to go to, null for any other key. */
export function rowFor(key: string, row: number, page: number, last: number): number | null {
  const wanted = new Map([
    ['ArrowUp', row - 1],
    ['ArrowDown', row + 1],
    ['PageUp', row - page],
    ['PageDown', row + page],
    ['Home', 0],
    ['End', last],
  ]).get(key);
  return wanted === undefined ? null : Math.max(0, Math.min(last, wanted));
}
