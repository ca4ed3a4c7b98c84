// Every way bytes come in by hand: the file chooser, dropping, pasting.

import { byId } from './dom.ts';

export interface Inlets {
  /** A file was chosen, dropped or pasted. */
  onFile: (file: File) => void;
  /** A text was pasted. */
  onText: (text: string) => void;
}

/** Connects the page's inlets. */
export function connectInlets(inlets: Inlets): void {
  const file = byId('file', HTMLInputElement);
  byId('open', HTMLButtonElement).addEventListener('click', () => file.click());
  file.addEventListener('change', () => {
    const chosen = file.files?.[0];
    file.value = '';
    if (chosen) {
      inlets.onFile(chosen);
    }
  });
  connectDrop(inlets);
  connectPaste(inlets);
}

function connectDrop(inlets: Inlets): void {
  const sign = byId('drop', HTMLElement);
  let depth = 0;
  const show = (by: number): void => {
    depth = Math.max(0, depth + by);
    sign.hidden = depth === 0;
  };
  document.addEventListener('dragenter', (event) => {
    event.preventDefault();
    show(1);
  });
  document.addEventListener('dragleave', () => show(-1));
  document.addEventListener('dragover', (event) => event.preventDefault());
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    show(-depth);
    const dropped = event.dataTransfer?.files[0];
    const text = event.dataTransfer?.getData('text/plain') ?? '';
    if (dropped) {
      inlets.onFile(dropped);
    } else if (text !== '') {
      inlets.onText(text);
    }
  });
}

function connectPaste(inlets: Inlets): void {
  const dialog = byId('paste-dialog', HTMLDialogElement);
  const area = byId('paste-text', HTMLTextAreaElement);
  byId('paste', HTMLButtonElement).addEventListener('click', () => {
    dialog.returnValue = '';
    dialog.showModal();
    area.focus();
  });
  dialog.addEventListener('close', () => {
    if (dialog.returnValue === 'read' && area.value.trim() !== '') {
      inlets.onText(area.value);
    }
    area.value = '';
  });
  document.addEventListener('paste', (event) => {
    const target = event.target;
    if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) {
      return;
    }
    const pasted = event.clipboardData?.files[0];
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (pasted) {
      inlets.onFile(pasted);
    } else if (text.trim() !== '') {
      inlets.onText(text);
    }
  });
}
