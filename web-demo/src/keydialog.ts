// The dialog that takes a key. The key is kept by who uses it; nothing of it stays in the dialog.

import { byId } from './dom.ts';

export class KeyDialog {
  private readonly dialog = byId('key-dialog', HTMLDialogElement);
  private readonly text = byId('key-text', HTMLTextAreaElement);
  private readonly fault = byId('key-fault', HTMLElement);

  /** `onKey` takes a key and gives why it is none, else ''. */
  constructor(private readonly onKey: (text: string) => string, onForget: () => void) {
    const file = byId('key-file', HTMLInputElement);
    byId('key-file-button', HTMLButtonElement).addEventListener('click', () => file.click());
    file.addEventListener('change', () => {
      const chosen = file.files?.[0];
      file.value = '';
      void chosen?.text().then((text) => this.use(text));
    });
    byId('key-use', HTMLButtonElement).addEventListener('click', (event) => {
      event.preventDefault();
      this.use(this.text.value);
    });
    byId('key-forget', HTMLButtonElement).addEventListener('click', (event) => {
      event.preventDefault();
      onForget();
      this.dialog.close();
    });
    this.dialog.addEventListener('close', () => {
      this.text.value = '';
      this.fault.hidden = true;
    });
  }

  open(): void {
    this.dialog.showModal();
    this.text.focus();
  }

  private use(text: string): void {
    const fault = text.trim() === '' ? 'no key was given' : this.onKey(text.trim());
    this.fault.textContent = fault;
    this.fault.hidden = fault === '';
    if (fault === '') {
      this.dialog.close();
    }
  }
}
