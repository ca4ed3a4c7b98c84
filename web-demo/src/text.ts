// Figures as text: one spelling for every pane.

const GROUPS = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const UNITS = ['B', 'KiB', 'MiB', 'GiB'] as const;

/** `12,345`. */
export function count(value: number | bigint): string {
  return GROUPS.format(value);
}

/** `1 frame`, `2 frames`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A size to read at a glance: `17 B`, `18.1 KiB`. */
export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

/** Nanoseconds since the first frame, in seconds to the microsecond: `0.001 234 s`. */
export function relativeTime(ns: number): string {
  const micros = Math.round(Math.abs(ns) / 1000);
  const whole = Math.floor(micros / 1_000_000);
  const part = String(micros % 1_000_000).padStart(6, '0');
  const sign = ns < 0 && micros > 0 ? '-' : '';
  return `${sign}${whole}.${part.slice(0, 3)} ${part.slice(3)} s`;
}

/** Nanoseconds since 1970 as UTC to the nanosecond: `2026-11-30 15:30:04.000000123 UTC`. */
export function absoluteTime(ns: bigint): string {
  const second = 1_000_000_000n;
  const part = ((ns % second) + second) % second;
  const millis = Number((ns - part) / 1_000_000n);
  if (!Number.isFinite(millis) || Math.abs(millis) > 8.64e15) {
    return `${ns} ns`;
  }
  const date = new Date(millis).toISOString().slice(0, 19).replace('T', ' ');
  return `${date}.${String(part).padStart(9, '0')} UTC`;
}

/** An offset in a unit, as wide as the largest one needs: `0004f2`. */
export function offset(value: number, last: number): string {
  return value.toString(16).padStart(Math.max(4, last.toString(16).length), '0');
}

/** `7d`. */
export function hexByte(value: number): string {
  return value.toString(16).padStart(2, '0');
}

/** The character of a printable ASCII byte, a middle dot for any other. */
export function printable(value: number): string {
  return value >= 0x20 && value < 0x7f ? String.fromCharCode(value) : '·';
}

/** A span of bytes in words: `byte 6`, `bytes 17-30 (14 B)`. */
export function span(start: number, end: number): string {
  const length = end - start;
  if (length <= 0) {
    return `at byte ${count(start)}, empty`;
  }
  return length === 1 ? `byte ${count(start)}` : `bytes ${count(start)}-${count(end - 1)} (${count(length)} B)`;
}
