// The line in which a filter is written, and what is wrong with it.

import { make } from './dom.ts';

const SETTLED_MS = 180;

export class FilterBox {
  private timer = 0;

  constructor(
    private readonly input: HTMLInputElement, private readonly fault: HTMLElement,
    private readonly clear: HTMLButtonElement, private readonly onText: (text: string) => void,
  ) {
    input.addEventListener('input', () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.commit(), SETTLED_MS);
      this.clear.hidden = input.value === '';
    });
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') {
        this.commit();
      }
    });
    clear.addEventListener('click', () => {
      this.text = '';
      this.commit();
      input.focus();
    });
  }

  get text(): string {
    return this.input.value.trim();
  }

  set text(text: string) {
    this.input.value = text;
    this.clear.hidden = text === '';
  }

  focus(): void {
    this.input.focus();
    this.input.select();
  }

  /** Shows where the filter cannot be read, null for a good one. `offset` counts UTF-8 bytes. */
  showFault(fault: { offset: number; reason: string } | null): void {
    this.fault.hidden = fault === null;
    this.input.setAttribute('aria-invalid', String(fault !== null));
    if (fault === null) {
      return;
    }
    const before = new TextEncoder().encode(this.text).subarray(0, fault.offset);
    const column = new TextDecoder().decode(before).length;
    this.fault.replaceChildren(
      make('span', '', `${' '.repeat(column)}▲`), '\n',
      make('span', '', fault.reason),
    );
  }

  private commit(): void {
    clearTimeout(this.timer);
    this.onText(this.text);
  }
}
