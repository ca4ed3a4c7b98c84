// Which units the list shows: all of them, or those that match the filter.

export class Matches {
  /** Null while every unit is shown. */
  private found: Uint32Array<ArrayBuffer> | null = null;
  private filled = 0;
  private all = 0;
  /** Units that were looked at so far. */
  examined = 0;

  /** Number of rows. */
  get length(): number {
    return this.found === null ? this.all : this.filled;
  }

  get isFiltered(): boolean {
    return this.found !== null;
  }

  showAll(units: number): void {
    this.found = null;
    this.all = units;
  }

  /** Begins anew with nothing found. */
  begin(): void {
    this.found = new Uint32Array(1024);
    this.filled = 0;
    this.examined = 0;
  }

  /** Adds what was found up to unit `examined`. */
  append(units: Uint32Array, examined: number): void {
    let found = this.found ?? new Uint32Array(1024);
    if (this.filled + units.length > found.length) {
      const larger = new Uint32Array(Math.max(2 * found.length, this.filled + units.length));
      larger.set(found.subarray(0, this.filled));
      found = larger;
    }
    found.set(units, this.filled);
    this.found = found;
    this.filled += units.length;
    this.examined = examined;
  }

  unitAt(row: number): number {
    return this.found === null ? row : (this.found[row] ?? 0);
  }

  /** The row that shows `unit`, or would: the next one where it is not shown. */
  nearestRow(unit: number): number {
    if (this.found === null) {
      return unit;
    }
    let low = 0;
    let high = this.filled;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.found[middle] ?? 0) < unit) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The row that shows `unit`, -1 where none does. */
  rowOf(unit: number): number {
    const row = this.nearestRow(unit);
    return row < this.length && this.unitAt(row) === unit ? row : -1;
  }
}
