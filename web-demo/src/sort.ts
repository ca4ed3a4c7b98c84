// What a unit is, as a word that also names its shape and colour.

import { type Frames, KIND, LANE, LAW } from './frames.ts';

export type Sort = 'control' | 'display' | 'frame' | 'handshake' | 'connector' | 'gap' | 'fault';

/** The sort of a unit by its columns alone. */
export function sortOf(frames: Frames, unit: number): Sort {
  switch (frames.kinds[unit]) {
    case KIND.handshake:
      return 'handshake';
    case KIND.connector:
      return 'connector';
    case KIND.gap:
      return 'gap';
    case KIND.fault:
      return 'fault';
    default:
      break;
  }
  switch (frames.lanes[unit]) {
    case LANE.control:
      return 'control';
    case LANE.display:
      return 'display';
    default:
      return 'frame';
  }
}

/** What about a unit calls for a look: something is missing, or wrong. */
export function troubleOf(frames: Frames, unit: number, gapTag: number): 'gap' | 'fault' | null {
  const kind = frames.kinds[unit];
  if (kind === KIND.fault || frames.faults[unit] !== 0 || frames.laws[unit] === LAW.broken) {
    return 'fault';
  }
  return kind === KIND.gap || frames.tags[unit] === gapTag ? 'gap' : null;
}
