// Starts the page: the door, the core, the panes, the keyboard.

import { readFragment } from './address.ts';
import { App } from './app.ts';
import { byId } from './dom.ts';
import { enter } from './door.ts';
import { loadCore, words } from './frames.ts';
import { connectInlets } from './inlets.ts';
import { KeyDialog } from './keydialog.ts';
import { split } from './split.ts';

async function start(): Promise<void> {
  const { view, code } = readFragment(location.hash);
  if (code !== null) {
    // Before anything can fail or be looked at: a code must not stay in the address or the history.
    history.replaceState(null, '', location.pathname);
  }
  const entered = enter(code);
  const panes = byId('panes', HTMLElement);
  split(byId('split-list', HTMLElement), panes, '--list', 54);
  split(byId('split-detail', HTMLElement), panes, '--fields', 46);

  try {
    await loadCore();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    byId('state', HTMLElement).textContent =
      `The core cannot be loaded (${reason}). Reload the page; it needs a browser with WebAssembly.`;
    byId('state', HTMLElement).classList.add('bad');
    return;
  }
  const app = new App(words(), view);
  connectInlets({
    onFile: (file) => void app.openFile(file),
    onText: (text) => void app.openText(text),
  });
  const keyDialog = new KeyDialog((text) => app.setKey(text), () => app.forgetKeys());
  byId('key', HTMLButtonElement).addEventListener('click', () => keyDialog.open());
  byId('help', HTMLButtonElement).addEventListener('click', () => byId('help-dialog', HTMLDialogElement).showModal());
  connectKeys(app);

  const standing = await entered;
  app.setStanding(standing);
  if (standing.is === 'inside' && (view.live || code !== null)) {
    app.startLive();
  }
  app.focusList();
}

function connectKeys(app: App): void {
  const press = (id: string) => (): void => byId(id, HTMLButtonElement).click();
  const actions = new Map<string, () => void>([
    ['o', press('open')],
    ['p', press('paste')],
    ['l', press('live')],
    ['k', press('key')],
    ['?', press('help')],
    ['t', () => app.theme.step()],
    ['f', () => app.toggleFollow()],
    ['d', () => app.turn()],
    ['n', () => app.jumpToTrouble(1)],
    ['N', () => app.jumpToTrouble(-1)],
    ['/', () => app.filter.focus()],
  ]);
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) {
      return;
    }
    const isWriting = event.target instanceof HTMLTextAreaElement ||
      (event.target instanceof HTMLInputElement && event.target.type === 'text');
    if (event.key === 'Escape' && !app.status.cancel()) {
      app.focusList();
    }
    const action = isWriting ? undefined : actions.get(event.key);
    if (action) {
      event.preventDefault();
      action();
    }
  });
}

void start();
