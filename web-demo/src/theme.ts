// Light, dark, or as the system has it.

import type { Theme } from './address.ts';

const NEXT: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' };
const NAMES: Record<Theme, string> = { auto: 'system', light: 'light', dark: 'dark' };

export class ThemeSwitch {
  constructor(
    private readonly button: HTMLButtonElement, public theme: Theme, private readonly onChange: () => void,
  ) {
    button.addEventListener('click', () => this.step());
    this.apply();
  }

  step(): void {
    this.set(NEXT[this.theme]);
  }

  set(theme: Theme): void {
    this.theme = theme;
    this.apply();
    this.onChange();
  }

  private apply(): void {
    document.documentElement.dataset['theme'] = this.theme;
    this.button.textContent = `Theme: ${NAMES[this.theme]}`;
  }
}
