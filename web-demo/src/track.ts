// A list can be longer than the tallest element a browser lays out. The element then stands for a
// track of fewer rows; this is the relation between a row's place on the track and its number.

/** Rows of the longest track: 2.2 million pixels, an eighth of what the strictest browser allows. */
export const TRACK_ROWS = 100_000;

/** At both ends of a track so many places are so many rows, so that the ends are reached exactly. */
const EDGE_ROWS = TRACK_ROWS / 4;

/** Length of the track of `rows` rows. */
export function trackLength(rows: number): number {
  return Math.min(rows, TRACK_ROWS);
}

/** The row that stands at `place` after a jump to it. */
export function rowAt(place: number, rows: number): number {
  if (rows <= TRACK_ROWS || place <= EDGE_ROWS) {
    return place;
  }
  if (place >= TRACK_ROWS - EDGE_ROWS) {
    return rows - (TRACK_ROWS - place);
  }
  const along = (place - EDGE_ROWS) / (TRACK_ROWS - 2 * EDGE_ROWS);
  return Math.round(EDGE_ROWS + along * (rows - 2 * EDGE_ROWS));
}

/** The place to go to so that `row` is seen there. */
export function placeOf(row: number, rows: number): number {
  if (rows <= TRACK_ROWS || row <= EDGE_ROWS) {
    return row;
  }
  if (row >= rows - EDGE_ROWS) {
    return TRACK_ROWS - (rows - row);
  }
  const along = (row - EDGE_ROWS) / (rows - 2 * EDGE_ROWS);
  return Math.round(EDGE_ROWS + along * (TRACK_ROWS - 2 * EDGE_ROWS));
}

/** Whether slow scrolling has carried `row` so far from its place that the ends would come too early. */
export function hasDrifted(place: number, row: number, rows: number): boolean {
  return Math.abs(placeOf(row, rows) - place) > EDGE_ROWS / 2;
}
