// What the fragment of the page's address holds: the view, or once the code that opens the door.

export type Theme = 'auto' | 'light' | 'dark';

/** The part of the view that a reload keeps. A key or a body is never in it. */
export interface View {
  /** Number of the selected unit, from 0. */
  selected: number | null;
  filter: string;
  theme: Theme;
  /** The live tap was on. */
  live: boolean;
}

export interface Fragment {
  view: View;
  /** A one-use code of the server; to be removed from the address before anything else. */
  code: string | null;
}

/** Reads a fragment, with or without `#`. What it does not know it leaves out. */
export function readFragment(fragment: string): Fragment {
  const values = new URLSearchParams(fragment.replace(/^#/, ''));
  const selected = values.get('i');
  const theme = values.get('theme');
  return {
    view: {
      selected: selected !== null && /^\d{1,10}$/.test(selected) ? Number(selected) : null,
      filter: values.get('filter') ?? '',
      theme: theme === 'light' || theme === 'dark' ? theme : 'auto',
      live: values.get('source') === 'live',
    },
    code: values.get('code'),
  };
}

/** The fragment of a view without `#`; empty for the view that a first visit shows. */
export function writeFragment(view: View): string {
  const values = new URLSearchParams();
  if (view.live) {
    values.set('source', 'live');
  }
  if (view.selected !== null) {
    values.set('i', String(view.selected));
  }
  if (view.filter !== '') {
    values.set('filter', view.filter);
  }
  if (view.theme !== 'auto') {
    values.set('theme', view.theme);
  }
  return values.toString();
}
