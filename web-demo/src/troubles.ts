// Gaps and faults: how many there are, and where the next one is.

import type { Frames } from './frames.ts';
import { troubleOf } from './sort.ts';

export class Troubles {
  gaps = 0;
  faults = 0;
  private examined = 0;

  constructor(private readonly frames: Frames, private readonly gapTag: number) {}

  /** Counts the units that were not counted yet. */
  update(): void {
    for (; this.examined < this.frames.length; this.examined += 1) {
      const trouble = troubleOf(this.frames, this.examined, this.gapTag);
      this.gaps += trouble === 'gap' ? 1 : 0;
      this.faults += trouble === 'fault' ? 1 : 0;
    }
  }

  /** The nearest one after `from` (before it for step -1) that `isShown`; null where there is none. */
  next(from: number, step: 1 | -1, isShown: (unit: number) => boolean): number | null {
    for (let unit = from + step; unit >= 0 && unit < this.frames.length; unit += step) {
      if (troubleOf(this.frames, unit, this.gapTag) !== null && isShown(unit)) {
        return unit;
      }
    }
    return null;
  }
}
