// Who knows what is open, what is selected and what is shown; the panes only draw.

import { type View, writeFragment } from './address.ts';
import { DetailPanes } from './detailpanes.ts';
import { byId, make } from './dom.ts';
import { type Standing, ask } from './door.ts';
import { type Emptiness, showEmpty } from './empty.ts';
import { FilterBox } from './filterbox.ts';
import { Frames, type Words } from './frames.ts';
import { List } from './list.ts';
import { Matches } from './matches.ts';
import { Job } from './pace.ts';
import { type Source, fileSource, readInto, textSource } from './reading.ts';
import { Seals } from './seals.ts';
import { Status } from './status.ts';
import { Tap, type TapState } from './tap.ts';
import { count, counted, size } from './text.ts';
import { ThemeSwitch } from './theme.ts';
import { Timeline } from './timeline.ts';
import { Troubles } from './troubles.ts';

/** Units that the filter examines between two looks at the clock. */
const FILTER_STEP = 512;
/** While a capture grows, the timeline is drawn this often at most. */
const TIMELINE_EVERY_MS = 250;
const ADDRESS_EVERY_MS = 300;
/** Memory at which the live tap is stopped, in bytes: a tab must not eat the machine unasked. */
const LIVE_HELD_MAX = 1024 ** 3;
/** A dropped file longer than this is never tried as a key. */
const KEY_FILE_MAX = 64 * 1024;

export class App {
  private frames = new Frames();
  private matches = new Matches();
  private troubles: Troubles;
  private selected: number | null = null;

  private name = '';
  private bytesRead = 0;
  private isReading = false;
  /** The open file is read with boundaries guessed behind faults. */
  private isGuessing = false;
  private outcome = '';
  private key = '';
  private readonly seals = new Seals();
  /** The open file, to be read again another way; null for a live tap. */
  private source: Source | null = null;
  private standing: Standing | null = null;
  private tapState: TapState = { is: 'stopped' };
  private isShutOut = false;
  /** How often the tap came back since it was started. */
  private reconnects = 0;

  private readJob: Job | null = null;
  private filterJob: Job | null = null;
  private wantedUnit: number | null;
  private drawScheduled = 0;
  private timelineDrawn = 0;
  private addressTimer = 0;
  /** Counts the seconds down while the tap waits. */
  private countdown = 0;

  private readonly gapTag: number;
  private readonly list: List;
  private readonly timeline: Timeline;
  private readonly detail: DetailPanes;
  readonly filter: FilterBox;
  readonly status: Status;
  readonly theme: ThemeSwitch;
  private readonly tap: Tap;
  private readonly follow = byId('follow', HTMLInputElement);
  private readonly liveButton = byId('live', HTMLButtonElement);
  private readonly listElement = byId('list', HTMLElement);

  constructor(words: Words, view: View) {
    this.gapTag = words.tags.indexOf('display_gap');
    this.troubles = new Troubles(this.frames, this.gapTag);
    this.wantedUnit = view.selected;
    this.list = new List(
      this.listElement, byId('list-head', HTMLElement), words, this.frames, this.matches,
      (unit) => this.selectByHand(unit),
    );
    this.timeline = new Timeline(
      byId('timeline', HTMLCanvasElement), this.frames, this.gapTag, (unit) => this.selectByHand(unit),
    );
    this.detail = new DetailPanes(words, this.gapTag, this.seals, () => this.resynchronise());
    this.filter = new FilterBox(
      byId('filter', HTMLInputElement), byId('filter-fault', HTMLElement),
      byId('filter-clear', HTMLButtonElement), (text) => this.applyFilter(text),
    );
    this.status = new Status(
      byId('state', HTMLElement), byId('progress', HTMLElement),
      byId('progress-bar', HTMLProgressElement), byId('cancel', HTMLButtonElement),
    );
    this.theme = new ThemeSwitch(byId('theme', HTMLButtonElement), view.theme, () => {
      this.timeline.redraw();
      this.keepAddress();
    });
    this.tap = new Tap((bytes) => this.tapped(bytes), (state) => this.tapChanged(state));
    this.liveButton.addEventListener('click', () => this.toggleLive());
    byId('retry', HTMLButtonElement).addEventListener('click', () => this.tap.retry());
    this.listElement.addEventListener('wheel', (event) => this.scrolledByHand(event.deltaY), { passive: true });
    this.follow.addEventListener('change', () => this.changed());
    byId('next-trouble', HTMLButtonElement).addEventListener('click', () => this.jumpToTrouble(1));
    byId('previous-trouble', HTMLButtonElement).addEventListener('click', () => this.jumpToTrouble(-1));
    this.filter.text = view.filter;
    this.applyFilter(view.filter);
    this.select(null);
    this.changed();
  }

  /** How the page stands with its server has become known. */
  setStanding(standing: Standing): void {
    this.standing = standing;
    this.isShutOut = standing.is === 'outside' && standing.reason !== '';
    this.liveButton.disabled = standing.is === 'alone';
    this.changed();
  }

  /** Opens a file; a small one that is a key is taken as the key. */
  async openFile(file: File): Promise<void> {
    if (file.size <= KEY_FILE_MAX && /\.(json|key)$/i.test(file.name)) {
      if (this.setKey((await file.text()).trim()) === '') {
        return;
      }
    }
    await this.read(fileSource(file));
  }

  /** Reads a pasted text. */
  async openText(text: string): Promise<void> {
    await this.read(textSource(text));
  }

  /**
   * Takes a key for whatever it can be one of, handshakes or seals; gives why it is none, else ''. It never leaves the
   * core and this object.
   */
  setKey(text: string): string {
    const isList = /^[[{]/.test(text);
    const noProof = this.frames.setKey(text);
    // A list or an object is the text of a handshake's key, and 64 digits may be either.
    const noSeal = isList ? noProof : this.seals.add(text);
    if (noProof === '') {
      this.key = text;
    }
    if (noProof !== '' && noSeal !== '') {
      return isList ? noProof : `for handshakes: ${noProof}; for seals: ${noSeal}`;
    }
    this.keysChanged();
    return '';
  }

  forgetKeys(): void {
    this.frames.setKey('');
    this.key = '';
    this.seals.clear();
    this.keysChanged();
  }

  /** Shows a sealed message the other way: as it is on the wire, or its document. */
  turn(): void {
    this.detail.turn();
  }

  private keysChanged(): void {
    const hasKey = this.key !== '' || this.seals.length > 0;
    byId('key', HTMLButtonElement).setAttribute('aria-pressed', String(hasKey));
    byId('key-forget', HTMLButtonElement).hidden = !hasKey;
    this.list.rows.refresh();
    this.select(this.selected);
    this.changed();
  }

  toggleLive(): void {
    if (this.tapState.is === 'stopped') {
      this.startLive();
    } else {
      this.tap.stop();
    }
  }

  startLive(): void {
    if (this.standing?.is !== 'inside') {
      this.isShutOut = true;
      this.changed();
      return;
    }
    this.begin('live tap');
    this.follow.checked = true;
    this.tap.start();
  }

  toggleFollow(): void {
    this.follow.checked = !this.follow.checked;
    this.changed();
  }

  /** Goes to the next or previous gap or fault among the units shown. */
  jumpToTrouble(step: 1 | -1): void {
    const from = this.selected ?? (step === 1 ? -1 : this.frames.length);
    const unit = this.troubles.next(from, step, (candidate) => this.matches.rowOf(candidate) >= 0);
    if (unit !== null) {
      this.selectByHand(unit);
    }
  }

  focusList(): void {
    this.listElement.focus();
  }

  /** Closes what is open and makes room for another capture. */
  private begin(name: string, resync = false): void {
    this.readJob?.cancel();
    this.filterJob?.cancel();
    this.filterJob = null;
    if (this.tapState.is !== 'stopped') {
      this.tap.stop();
    }
    const old = this.frames;
    this.frames = new Frames(resync);
    this.matches = new Matches();
    this.troubles = new Troubles(this.frames, this.gapTag);
    this.name = name;
    this.source = null;
    this.bytesRead = 0;
    this.outcome = '';
    this.isShutOut = false;
    this.isGuessing = false;
    this.reconnects = 0;
    this.list.show(this.frames, this.matches);
    this.timeline.show(this.frames);
    this.select(null);
    old.close();
    if (this.key !== '') {
      this.frames.setKey(this.key);
    }
    this.applyFilter(this.filter.text);
  }

  /** Reads the open file again and searches for a boundary behind each fault. */
  private resynchronise(): void {
    if (this.source) {
      this.wantedUnit = this.selected;
      void this.read(this.source, true);
    }
  }

  private async read(source: Source, resync = false): Promise<void> {
    this.begin(source.name, resync);
    this.source = source;
    this.isGuessing = resync;
    const job = new Job();
    this.readJob = job;
    this.isReading = true;
    this.status.begin(job);
    this.changed();
    this.frames.reserve(source.size);
    const reading = await readInto(this.frames, source, job, (done) => {
      this.bytesRead = done;
      this.status.progress(job, done / Math.max(1, source.size));
      this.changed();
    });
    this.status.end(job);
    // Another source may have been opened in the meantime.
    if (this.readJob !== job) {
      return;
    }
    this.readJob = null;
    this.isReading = false;
    this.bytesRead = reading.done;
    this.outcome = reading.isCancelled
      ? `stopped after ${size(reading.done)} of ${size(source.size)}`
      : reading.fault;
    this.changed();
    this.timeline.redraw();
  }

  private tapped(bytes: Uint8Array): void {
    this.bytesRead += bytes.length;
    const fault = this.frames.push(bytes);
    if (fault !== '') {
      this.outcome = fault;
      this.tap.stop();
    } else if (this.frames.held > LIVE_HELD_MAX) {
      this.outcome = `stopped: this tab holds ${size(this.frames.held)}; start the tap again to begin anew`;
      this.tap.stop();
    }
    this.changed();
  }

  private tapChanged(state: TapState): void {
    if (state.is === 'watching' && this.bytesRead > 0) {
      this.reconnects += 1;
    }
    this.tapState = state;
    this.liveButton.setAttribute('aria-pressed', String(state.is !== 'stopped'));
    this.liveButton.textContent = state.is === 'stopped' ? 'Live tap' : 'Stop tap';
    byId('retry', HTMLButtonElement).hidden = state.is !== 'waiting';
    clearInterval(this.countdown);
    if (state.is === 'waiting') {
      this.countdown = window.setInterval(() => this.changed(), 1000);
    }
    if (state.is === 'waiting') {
      void ask().then((standing) => {
        if (standing.is === 'outside' && this.tapState.is === 'waiting') {
          this.standing = standing;
          this.isShutOut = true;
          this.outcome = 'the session ended: run `twolane open-page` and open the address it prints';
          this.tap.stop();
        }
      });
    }
    this.keepAddress();
    this.changed();
  }

  private applyFilter(text: string): void {
    const fault = this.frames.setFilter(text);
    this.filter.showFault(fault);
    if (fault !== null) {
      return;
    }
    this.filterJob?.cancel();
    this.filterJob = null;
    if (text === '') {
      this.matches.showAll(this.frames.length);
    } else {
      this.matches.begin();
    }
    this.list.update();
    this.list.rows.refresh();
    this.changed();
    this.list.select(this.selected);
    this.keepAddress();
  }

  /** Examines what the filter has not seen yet, in slices. */
  private async examine(): Promise<void> {
    if (!this.matches.isFiltered || this.filterJob !== null || this.matches.examined >= this.frames.length) {
      return;
    }
    const { frames, matches } = this;
    const job = new Job();
    this.filterJob = job;
    if (!this.isReading) {
      this.status.begin(job);
    }
    while (matches.examined < frames.length && !job.isCancelled) {
      const to = Math.min(frames.length, matches.examined + FILTER_STEP);
      matches.append(frames.matching(matches.examined, to), to);
      if (job.isDue) {
        this.status.progress(job, to / frames.length);
        this.changed();
        await job.rest();
      }
    }
    this.status.end(job);
    if (this.filterJob === job) {
      // A filter that was stopped by hand stays stopped until it is changed.
      this.filterJob = job.isCancelled ? job : null;
      this.changed();
      this.list.select(this.selected);
    }
  }

  private selectByHand(unit: number): void {
    this.follow.checked = false;
    this.select(unit);
  }

  private scrolledByHand(deltaY: number): void {
    if (deltaY < 0 && this.tapState.is !== 'stopped') {
      this.follow.checked = false;
    }
  }

  private select(unit: number | null): void {
    this.selected = unit !== null && unit < this.frames.length ? unit : null;
    this.list.select(this.selected);
    this.timeline.select(this.selected);
    this.detail.show(this.frames, this.selected, this.source !== null && !this.isGuessing);
    this.keepAddress();
  }

  /** Draws with the next frame what depends on how many units there are. */
  private changed(): void {
    if (this.drawScheduled === 0) {
      this.drawScheduled = requestAnimationFrame(() => {
        this.drawScheduled = 0;
        this.draw();
      });
    }
  }

  private draw(): void {
    if (!this.matches.isFiltered) {
      this.matches.showAll(this.frames.length);
    }
    void this.examine();
    this.troubles.update();
    this.list.update();
    this.selectFirst();
    const isLive = this.tapState.is !== 'stopped';
    if (isLive && this.follow.checked && this.matches.length > 0 && !this.list.rows.isAtEnd) {
      this.list.rows.revealEnd();
    }
    const now = performance.now();
    if (now - this.timelineDrawn > TIMELINE_EVERY_MS || !(this.isReading || isLive)) {
      this.timelineDrawn = now;
      this.timeline.redraw();
    }
    this.showCounts();
    showEmpty(byId('empty', HTMLElement), this.emptiness());
    this.sayState();
  }

  /** A fresh capture opens at the unit that the address names, else at its first. */
  private selectFirst(): void {
    if (this.selected !== null || this.frames.length === 0) {
      return;
    }
    const wanted = this.wantedUnit;
    if (wanted !== null && wanted >= this.frames.length && this.isReading) {
      return;
    }
    if (wanted !== null && wanted < this.frames.length) {
      this.wantedUnit = null;
      this.select(wanted);
    } else if (this.tapState.is === 'stopped' && this.matches.length > 0) {
      this.wantedUnit = null;
      this.select(this.matches.unitAt(0));
    }
  }

  private showCounts(): void {
    const { gaps, faults } = this.troubles;
    const matches = byId('matches', HTMLElement);
    const isStopped = this.filterJob?.isCancelled === true;
    matches.textContent = this.matches.isFiltered
      ? `${count(this.matches.length)} of ${count(isStopped ? this.matches.examined : this.frames.length)}` +
        (isStopped ? ' looked at' : '')
      : counted(this.frames.length, 'unit');
    const troubles = byId('troubles', HTMLElement);
    const said = `${counted(gaps, 'gap')} ${counted(faults, 'fault')}`;
    if (troubles.textContent !== said) {
      troubles.replaceChildren(tally('gap', gaps), ' ', tally('fault', faults));
    }
    for (const id of ['next-trouble', 'previous-trouble']) {
      byId(id, HTMLButtonElement).disabled = gaps + faults === 0;
    }
    byId('follow', HTMLInputElement).parentElement?.toggleAttribute('hidden', this.tapState.is === 'stopped');
  }

  private emptiness(): Emptiness | null {
    if (this.matches.length > 0) {
      return null;
    }
    if (this.isShutOut && this.frames.length === 0) {
      return { is: 'shut-out', reason: this.standing?.is === 'outside' ? this.standing.reason : '' };
    }
    if (this.name === '') {
      return { is: 'nothing-open', standing: this.standing };
    }
    if (this.frames.length > 0) {
      const onClear = (): void => {
        this.filter.text = '';
        this.applyFilter('');
        this.focusList();
      };
      return { is: 'no-match', filter: this.filter.text, onClear };
    }
    if (this.tapState.is !== 'stopped') {
      return { is: 'no-traffic' };
    }
    return this.isReading
      ? { is: 'reading', name: this.name }
      : { is: 'no-unit', name: this.name, format: this.frames.format };
  }

  private sayState(): void {
    if (this.name === '') {
      this.status.say('');
      return;
    }
    const all = this.isReading && this.source ? ` of ${size(this.source.size)}` : '';
    const parts = [this.name, this.frames.format, size(this.bytesRead) + all];
    if (this.isGuessing) {
      parts.push('frames behind faults are guesses');
    }
    if (this.reconnects > 0) {
      parts.push(`${counted(this.reconnects, 'reconnect')}: the server repeats its latest units after each`);
    }
    if (this.tapState.is === 'waiting') {
      const seconds = Math.max(1, Math.ceil((this.tapState.retryAt - Date.now()) / 1000));
      const why = this.tapState.reason === '' ? 'the tap broke' : this.tapState.reason;
      parts.push(`${why}; attempt ${this.tapState.attempt} in ${seconds} s`);
    } else if (this.tapState.is !== 'stopped') {
      parts.push(this.tapState.is);
    }
    parts.push(this.proofs());
    parts.push(this.seals.length === 0 ? '' : `${counted(this.seals.length, 'key')} for seals`);
    if (this.outcome !== '') {
      parts.push(`${this.outcome}; ${counted(this.frames.length, 'unit')} before that can be read`);
    }
    const isBad = this.outcome !== '' || this.tapState.is === 'waiting';
    this.status.say(parts.filter((part) => part !== '').join(' · '), isBad);
  }

  /** What the key said of the handshakes' proofs. */
  private proofs(): string {
    if (this.key === '') {
      return '';
    }
    const { right, wrong } = this.frames.proofs;
    if (right + wrong === 0) {
      return 'key given, no proof to verify';
    }
    return wrong === 0 ? `${counted(right, 'proof')} verified` : `${counted(wrong, 'proof')} wrong under this key`;
  }

  /** Writes the view into the address, now and then: browsers allow only so many changes. */
  private keepAddress(): void {
    if (this.addressTimer === 0) {
      this.addressTimer = window.setTimeout(() => {
        this.addressTimer = 0;
        const fragment = writeFragment({
          selected: this.selected ?? this.wantedUnit,
          filter: this.filter.text,
          theme: this.theme.theme,
          live: this.tapState.is !== 'stopped',
        });
        history.replaceState(null, '', fragment === '' ? location.pathname : `#${fragment}`);
      }, ADDRESS_EVERY_MS);
    }
  }
}

/** `▼ 2 gaps` with its shape and colour. */
function tally(sort: 'gap' | 'fault', amount: number): HTMLElement {
  return make('span', amount === 0 ? `sort ${sort} none` : `sort ${sort}`, counted(amount, sort));
}
