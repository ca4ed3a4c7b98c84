// What stands where the list would be while it is empty: what to do next.

import { make } from './dom.ts';
import type { Standing } from './door.ts';

/** Why the list is empty. */
export type Emptiness =
  | { is: 'nothing-open'; standing: Standing | null }
  | { is: 'reading'; name: string }
  | { is: 'no-unit'; name: string; format: string }
  | { is: 'no-match'; filter: string; onClear: () => void }
  | { is: 'no-traffic' }
  | { is: 'shut-out'; reason: string };

/** Fills `place` for `emptiness`; null empties it. */
export function showEmpty(place: HTMLElement, emptiness: Emptiness | null): void {
  place.replaceChildren(...(emptiness === null ? [] : contentOf(emptiness)));
}

function contentOf(emptiness: Emptiness): Node[] {
  switch (emptiness.is) {
    case 'nothing-open':
      return nothingOpen(emptiness.standing);
    case 'reading':
      return [title(`Reading ${emptiness.name}`), paragraph('No unit yet.')];
    case 'no-unit':
      return [
        title(`${emptiness.name} holds no unit`),
        paragraph(
          emptiness.format === ''
            ? 'It is empty. '
            : `It was read as ${emptiness.format}, and no frame or handshake message was found in it. `,
          'Open a pcap or pcapng file with the traffic of a Twolane socket, the raw bytes of one direction, ',
          'or hex or base64 of them.',
        ),
      ];
    case 'no-match': {
      const clear = make('button', '', 'Clear the filter');
      clear.type = 'button';
      clear.addEventListener('click', emptiness.onClear);
      return [title('No unit matches'), paragraph('The filter is ', code(emptiness.filter), '.'), make('div', '', clear)];
    }
    case 'no-traffic':
      return [
        title('Waiting for traffic'),
        paragraph('The tap is open. A frame appears here as soon as the server reads or writes one; for instance:'),
        paragraph(code('twolane attach --connection-file RUN_DIR/providers.json')),
      ];
    case 'shut-out':
      return shutOut(emptiness.reason);
  }
}

function nothingOpen(standing: Standing | null): Node[] {
  const ways = make('ul');
  ways.append(
    way('Open a capture: drop a file anywhere here, or press ', key('o'), '.'),
    way('Paste bytes as hex or base64: press ', key('p'), '.'),
  );
  if (standing?.is === 'inside') {
    ways.append(way('Watch this server live: press ', key('l'), '.'));
  } else if (standing?.is === 'outside') {
    ways.append(way('To watch this server live, open the address that ', code('twolane open-page'), ' prints.'));
  } else if (standing?.is === 'alone') {
    ways.append(way('To watch a server live, run ', code('twolane serve'), ' and open the address it prints.'));
  }
  return [
    title('Nothing is open'),
    ways,
    paragraph('pcap, pcapng, raw streams, hex and base64 are recognised. Files are read in this tab and sent nowhere.'),
  ];
}

function shutOut(reason: string): Node[] {
  return [
    title('The live tap is shut'),
    paragraph(reason === '' ? 'This page has no valid session with the server. ' : `The server said: ${reason}. `),
    paragraph('Run ', code('twolane open-page'), ' and open the address it prints; it is good once, for 10 minutes.'),
    paragraph('Captures can be opened without it: drop a file here.'),
  ];
}

function title(text: string): HTMLElement {
  return make('h2', '', text);
}

function paragraph(...content: (Node | string)[]): HTMLElement {
  return make('p', '', ...content);
}

function way(...content: (Node | string)[]): HTMLElement {
  return make('li', '', ...content);
}

function code(text: string): HTMLElement {
  return make('code', '', text);
}

function key(text: string): HTMLElement {
  return make('kbd', '', text);
}
