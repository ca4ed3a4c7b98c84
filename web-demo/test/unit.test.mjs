// The page's own arithmetic and spelling, without a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readFragment, writeFragment } from '../node_modules/.unit/address.js';
import { waitMs } from '../node_modules/.unit/backoff.js';
import { Fields } from '../node_modules/.unit/detail.js';
import { absoluteTime, offset, relativeTime, size, span } from '../node_modules/.unit/text.js';
import { TRACK_ROWS, hasDrifted, placeOf, rowAt, trackLength } from '../node_modules/.unit/track.js';

test('a list of up to a hundred thousand rows is its own track', () => {
  for (const row of [0, 1, 50_000, TRACK_ROWS - 1]) {
    assert.equal(rowAt(row, TRACK_ROWS), row);
    assert.equal(placeOf(row, TRACK_ROWS), row);
  }
});

test('both ends of a long list are reached row by row', () => {
  const rows = 1_000_000;
  assert.equal(trackLength(rows), TRACK_ROWS);
  for (const near of [0, 1, 2, 1000]) {
    assert.equal(rowAt(near, rows), near);
    assert.equal(rowAt(TRACK_ROWS - 1 - near, rows), rows - 1 - near);
    assert.equal(placeOf(rows - 1 - near, rows), TRACK_ROWS - 1 - near);
  }
});

test('a row far inside a long list is found again from its place', () => {
  for (const rows of [150_000, 1_000_000, 30_000_000]) {
    const step = rows / TRACK_ROWS;
    for (let row = 0; row < rows; row += Math.floor(rows / 997)) {
      assert.ok(Math.abs(rowAt(placeOf(row, rows), rows) - row) <= 2 * step, `${row} of ${rows}`);
    }
  }
});

test('slow scrolling is put right before it meets an end of the track', () => {
  const rows = 1_000_000;
  const place = placeOf(500_000, rows);
  assert.equal(hasDrifted(place, 500_000, rows), false);
  assert.equal(hasDrifted(place - 20_000, 480_000, rows), true);
});

test('times are relative to the microsecond and absolute to the nanosecond', () => {
  assert.equal(relativeTime(0), '0.000 000 s');
  assert.equal(relativeTime(86_368_123), '0.086 368 s');
  assert.equal(relativeTime(3_600_000_000_000), '3600.000 000 s');
  assert.equal(absoluteTime(1_700_000_000_123_456_789n), '2023-11-14 22:13:20.123456789 UTC');
});

test('figures carry their unit', () => {
  assert.equal(size(0), '0 B');
  assert.equal(size(1023), '1023 B');
  assert.equal(size(137 * 1024 * 1024), '137.0 MiB');
  assert.equal(span(6, 7), 'byte 6');
  assert.equal(span(17, 31), 'bytes 17-30 (14 B)');
  assert.equal(offset(0x4f2, 0xffff), '04f2');
  assert.equal(offset(0, 0x12345), '00000');
});

test('the address holds the view and nothing else', () => {
  const view = { selected: 12, filter: 'lane=display and text~"a b"', theme: 'dark', live: true };
  const written = writeFragment(view);
  assert.deepEqual(readFragment(`#${written}`), { view, code: null });
  assert.equal(writeFragment({ selected: null, filter: '', theme: 'auto', live: false }), '');
});

test('an address that holds nonsense shows the first view', () => {
  const { view, code } = readFragment('#i=-3&theme=pink&source=x&code=abc');
  assert.deepEqual(view, { selected: null, filter: '', theme: 'auto', live: false });
  assert.equal(code, 'abc');
});

test('the tap is tried again after ever longer waits, at most 15 s', () => {
  assert.deepEqual([0, 1, 2, 3].map(waitMs), [500, 1000, 2000, 4000]);
  assert.equal(waitMs(1000), 15_000);
});

/** Packs fields as the core does. */
function pack(rows) {
  let text = '';
  const words = rows.flatMap(([depth, start, end, kind, mask, name, value, meaning]) => {
    const places = [name, value, meaning].map((part) => {
      const at = new TextEncoder().encode(text).length;
      text += part;
      return at;
    });
    return [depth, start, start, end, kind | (mask << 8), ...places];
  });
  return new Fields(Uint32Array.from(words), new TextEncoder().encode(text));
}

const HEADER = pack([
  [0, 0, 17, 0, 0, 'header', '', 'envelope'],
  [1, 0, 4, 1, 0, 'len', '2', ''],
  [1, 6, 7, 2, 0, 'flags', '0x0a', ''],
  [2, 6, 7, 3, 6, 'priority', 'Interactive (1)', ''],
  [1, 6, 7, 4, 0, 'lane', 'control', ''],
  [0, 17, 19, 5, 0, 'body', 'é', ''],
]);

test('packed fields give back their words', () => {
  assert.equal(HEADER.length, 6);
  assert.equal(HEADER.name(0), 'header');
  assert.equal(HEADER.meaning(0), 'envelope');
  assert.equal(HEADER.value(3), 'Interactive (1)');
  assert.equal(HEADER.value(3, 5), 'Inter…');
  assert.equal(HEADER.mask(3), 6);
  assert.equal(HEADER.kind(5), 'object');
  assert.equal(HEADER.value(5), 'é');
});

test('a byte belongs to the innermost field of whole bytes over it', () => {
  assert.equal(HEADER.name(HEADER.at(2)), 'len');
  assert.equal(HEADER.name(HEADER.at(6)), 'flags');
  assert.equal(HEADER.name(HEADER.at(10)), 'header');
  assert.equal(HEADER.at(19), -1);
});

test('fields know what holds them', () => {
  assert.equal(HEADER.parent(3), 2);
  assert.equal(HEADER.parent(2), 0);
  assert.equal(HEADER.parent(5), -1);
  assert.equal(HEADER.hasChildren(2), true);
  assert.equal(HEADER.hasChildren(3), false);
});
