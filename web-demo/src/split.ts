// The separators between panes: by pointer and by keyboard.

const STEP_PERCENT = 2;
const LEAST_PERCENT = 12;
const MOST_PERCENT = 85;

/** Lets `separator` set the custom property `name` of `panes`, in percent of its height or width. */
export function split(separator: HTMLElement, panes: HTMLElement, name: string, first: number): void {
  const isAcross = separator.getAttribute('aria-orientation') === 'horizontal';
  let percent = first;

  const set = (wanted: number): void => {
    percent = Math.min(MOST_PERCENT, Math.max(LEAST_PERCENT, wanted));
    panes.style.setProperty(name, `${percent.toFixed(2)}%`);
    separator.setAttribute('aria-valuenow', String(Math.round(percent)));
  };
  separator.setAttribute('aria-valuemin', String(LEAST_PERCENT));
  separator.setAttribute('aria-valuemax', String(MOST_PERCENT));
  set(first);

  separator.addEventListener('pointerdown', (event) => {
    separator.setPointerCapture(event.pointerId);
    event.preventDefault();
    separator.focus();
  });
  separator.addEventListener('pointermove', (event) => {
    if (!separator.hasPointerCapture(event.pointerId)) {
      return;
    }
    const box = panes.getBoundingClientRect();
    const along = isAcross ? (event.clientY - box.top) / box.height : (event.clientX - box.left) / box.width;
    set(along * 100);
  });
  separator.addEventListener('dblclick', () => set(first));
  separator.addEventListener('keydown', (event) => {
    const less = isAcross ? 'ArrowUp' : 'ArrowLeft';
    const more = isAcross ? 'ArrowDown' : 'ArrowRight';
    const wanted = new Map([
      [less, percent - STEP_PERCENT],
      [more, percent + STEP_PERCENT],
      ['Home', LEAST_PERCENT],
      ['End', MOST_PERCENT],
      ['Enter', first],
    ]).get(event.key);
    if (wanted !== undefined) {
      set(wanted);
      event.preventDefault();
    }
  });
}
