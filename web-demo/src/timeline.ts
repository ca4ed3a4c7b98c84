// The density of units over time, lane by lane, with gaps and faults marked.

import { type Frames, KIND, LANE } from './frames.ts';
import { make } from './dom.ts';
import { troubleOf } from './sort.ts';
import { count, relativeTime } from './text.ts';

const LANES = ['control', 'display', 'other'] as const;
/** Pixels left for the lanes' words, and on the right for the last time. */
const LABEL = 66;
const END = 96;
const TRACK = 13;
const TOP = 3;
const MARKS_TOP = TOP + LANES.length * TRACK + 1;
const BIN = 2;

interface Colours {
  control: string;
  display: string;
  other: string;
  gap: string;
  fault: string;
  ink: string;
  quiet: string;
  line: string;
  accent: string;
}

export class Timeline {
  private readonly canvas: HTMLCanvasElement;
  private readonly probe: HTMLElement;
  private frames: Frames;
  private readonly gapTag: number;
  private selected: number | null = null;
  private span = 0;
  private byTime = false;
  private scheduled = 0;

  constructor(
    canvas: HTMLCanvasElement, frames: Frames, gapTag: number,
    private readonly onSelect: (unit: number) => void,
  ) {
    this.canvas = canvas;
    this.frames = frames;
    this.gapTag = gapTag;
    this.probe = make('span');
    this.probe.hidden = true;
    canvas.after(this.probe);
    new ResizeObserver(() => this.redraw()).observe(canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.redraw());
    canvas.addEventListener('pointerdown', (event) => this.pointed(event));
    canvas.addEventListener('pointermove', (event) => {
      if (event.buttons === 1) {
        this.pointed(event);
      }
    });
    canvas.addEventListener('keydown', (event) => this.keyed(event));
  }

  show(frames: Frames): void {
    this.frames = frames;
    this.selected = null;
    this.redraw();
  }

  select(unit: number | null): void {
    this.selected = unit;
    this.redraw();
  }

  /** Draws with the next frame. */
  redraw(): void {
    if (this.scheduled === 0) {
      this.scheduled = requestAnimationFrame(() => {
        this.scheduled = 0;
        this.draw();
      });
    }
  }

  private draw(): void {
    const { canvas, frames } = this;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    const scale = devicePixelRatio;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext('2d');
    if (!context || width <= LABEL + END) {
      return;
    }
    context.scale(scale, scale);
    this.measure();
    const colours = this.colours();
    this.drawFrame(context, width, colours);
    this.drawUnits(context, width, colours);
    this.drawSelected(context, width, colours);
    this.describe();
    // Nothing to point at.
    canvas.setAttribute('aria-disabled', String(frames.length === 0));
  }

  /** What the whole width stands for: the time from first to last, or the number of units. */
  private measure(): void {
    const { frames } = this;
    let latest = 0;
    this.byTime = frames.baseNs !== null;
    for (let unit = 0; this.byTime && unit < frames.length; unit += 1) {
      latest = Math.max(latest, frames.time(unit) ?? 0);
    }
    this.byTime = this.byTime && latest > 0;
    this.span = this.byTime ? latest : Math.max(0, frames.length - 1);
  }

  private position(unit: number): number {
    return (this.byTime ? (this.frames.time(unit) ?? 0) : unit) / Math.max(1, this.span);
  }

  private x(unit: number, width: number): number {
    return LABEL + this.position(unit) * (width - LABEL - END);
  }

  private drawFrame(context: CanvasRenderingContext2D, width: number, colours: Colours): void {
    context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    context.textBaseline = 'middle';
    LANES.forEach((lane, index) => {
      const middle = TOP + index * TRACK + TRACK / 2;
      context.fillStyle = colours[lane];
      context.fillText(lane, 10, middle + 0.5);
      context.fillStyle = colours.line;
      context.fillRect(LABEL, TOP + (index + 1) * TRACK - 1, width - LABEL - END, 1);
    });
    if (this.frames.length > 0) {
      context.fillStyle = colours.quiet;
      const last = this.byTime ? relativeTime(this.span) : `unit ${count(this.span)}`;
      context.textAlign = 'right';
      context.fillText(last, width - 10, MARKS_TOP + 7);
      context.textAlign = 'left';
      context.fillText(this.byTime ? '0 s' : 'unit 0', 10, MARKS_TOP + 7);
    }
  }

  private drawUnits(context: CanvasRenderingContext2D, width: number, colours: Colours): void {
    const { frames } = this;
    const bins = Math.max(1, Math.floor((width - LABEL - END) / BIN));
    const counts = LANES.map(() => new Uint32Array(bins));
    const gaps = new Uint8Array(bins);
    const faults = new Uint8Array(bins);
    let most = 1;
    for (let unit = 0; unit < frames.length; unit += 1) {
      const bin = Math.min(bins - 1, Math.floor(this.position(unit) * bins));
      const trouble = troubleOf(frames, unit, this.gapTag);
      if (trouble !== null) {
        (trouble === 'gap' ? gaps : faults)[bin] = 1;
      }
      const track = counts[trackOf(frames, unit)];
      if (track) {
        const sum = (track[bin] ?? 0) + 1;
        track[bin] = sum;
        most = Math.max(most, sum);
      }
    }
    counts.forEach((track, index) => {
      context.fillStyle = colours[LANES[index] ?? 'other'];
      for (let bin = 0; bin < bins; bin += 1) {
        const sum = track[bin] ?? 0;
        if (sum > 0) {
          // By logarithm, so that a lone unit stays visible beside a burst.
          const tall = 2 + (TRACK - 4) * (Math.log1p(sum) / Math.log1p(most));
          context.fillRect(LABEL + bin * BIN, TOP + (index + 1) * TRACK - 1 - tall, BIN, tall);
        }
      }
    });
    this.drawMarks(context, gaps, colours.gap, drawTriangle);
    this.drawMarks(context, faults, colours.fault, drawCross);
  }

  private drawMarks(
    context: CanvasRenderingContext2D, marked: Uint8Array, colour: string,
    shape: (context: CanvasRenderingContext2D, x: number, y: number) => void,
  ): void {
    context.fillStyle = colour;
    context.strokeStyle = colour;
    let free = 0;
    for (let bin = 0; bin < marked.length; bin += 1) {
      // Marks closer than their own width would only smear.
      if (marked[bin] === 1 && bin >= free) {
        shape(context, LABEL + bin * BIN + BIN / 2, MARKS_TOP + 3);
        free = bin + 4;
      }
    }
  }

  private drawSelected(context: CanvasRenderingContext2D, width: number, colours: Colours): void {
    if (this.selected === null || this.selected >= this.frames.length) {
      return;
    }
    const x = Math.round(this.x(this.selected, width));
    context.fillStyle = colours.accent;
    context.fillRect(x - 1, 0, 2, MARKS_TOP);
    context.beginPath();
    context.moveTo(x - 5, 0);
    context.lineTo(x + 5, 0);
    context.lineTo(x, 6);
    context.fill();
  }

  private describe(): void {
    const { canvas, frames, selected } = this;
    canvas.setAttribute('aria-valuemax', String(Math.max(0, frames.length - 1)));
    canvas.setAttribute('aria-valuenow', String(selected ?? 0));
    const time = selected === null ? null : frames.time(selected);
    const where = time === null ? '' : ` at ${relativeTime(time)}`;
    canvas.setAttribute('aria-valuetext', selected === null ? 'no unit' : `unit ${selected}${where}`);
  }

  private pointed(event: PointerEvent): void {
    if (event.button > 0 || this.frames.length === 0) {
      return;
    }
    const width = this.canvas.clientWidth - LABEL - END;
    const wanted = Math.max(0, Math.min(1, (event.offsetX - LABEL) / width));
    let nearest = 0;
    let distance = Infinity;
    for (let unit = 0; unit < this.frames.length; unit += 1) {
      const off = Math.abs(this.position(unit) - wanted);
      if (off < distance) {
        distance = off;
        nearest = unit;
      }
    }
    this.onSelect(nearest);
  }

  private keyed(event: KeyboardEvent): void {
    const last = this.frames.length - 1;
    const at = this.selected ?? 0;
    const leap = Math.max(1, Math.round(last / 50));
    const wanted = new Map([
      ['ArrowLeft', at - 1],
      ['ArrowRight', at + 1],
      ['PageUp', at - leap],
      ['PageDown', at + leap],
      ['Home', 0],
      ['End', last],
    ]).get(event.key);
    if (wanted !== undefined && last >= 0) {
      event.preventDefault();
      this.onSelect(Math.max(0, Math.min(last, wanted)));
    }
  }

  /** The theme's colours: a canvas cannot use the style sheet's variables. */
  private colours(): Colours {
    const read = (name: string): string => {
      this.probe.style.color = `var(--${name})`;
      return getComputedStyle(this.probe).color;
    };
    return {
      control: read('control'),
      display: read('display'),
      other: read('quiet'),
      gap: read('gap'),
      fault: read('fault'),
      ink: read('ink'),
      quiet: read('quiet'),
      line: read('line'),
      accent: read('accent'),
    };
  }
}

function trackOf(frames: Frames, unit: number): number {
  if (frames.kinds[unit] !== KIND.frame) {
    return 2;
  }
  const lane = frames.lanes[unit];
  return lane === LANE.control ? 0 : lane === LANE.display ? 1 : 2;
}

function drawTriangle(context: CanvasRenderingContext2D, x: number, y: number): void {
  context.beginPath();
  context.moveTo(x - 4, y);
  context.lineTo(x + 4, y);
  context.lineTo(x, y + 7);
  context.fill();
}

function drawCross(context: CanvasRenderingContext2D, x: number, y: number): void {
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x - 3, y + 1);
  context.lineTo(x + 3, y + 7);
  context.moveTo(x + 3, y + 1);
  context.lineTo(x - 3, y + 7);
  context.stroke();
}
