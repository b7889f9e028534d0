import type { Policy, SpendWindow } from './policy.ts';

/** Number of buckets that a rolling window slides over. Other windows have one bucket for each period. */
const ROLLING_BUCKETS = 60;
const DAY_MS = 86_400_000;

export const bucketsOf = (window: SpendWindow): number =>
  window.kind === 'rolling' ? ROLLING_BUCKETS : 1;

/**
 * Returns the width of a rolling window's bucket in milliseconds. The oldest of the sixty buckets is counted whole, so 59
 * buckets must cover the window: the sum never covers less than `seconds`.
 */
const widthMs = (seconds: number): number => Math.ceil((seconds * 1_000) / (ROLLING_BUCKETS - 1));

/**
 * Returns the number of the bucket that contains an instant. Numbers only grow with time. Once and session windows have bucket
 * 0, and bucket 1 from the time when they take effect: earlier spending does not count.
 */
export function bucketAt(
  policy: Pick<Policy, 'window' | 'effectiveFromSec'>,
  nowMs: number,
): number {
  const { window, effectiveFromSec } = policy;
  switch (window.kind) {
    case 'rolling':
      return Math.floor(nowMs / widthMs(window.seconds));
    case 'calendar':
      return periodAt(window.unit, nowMs);
    case 'once':
    case 'session':
      return effectiveFromSec !== null && nowMs >= effectiveFromSec * 1_000 ? 1 : 0;
  }
}

/** Returns the Unix milliseconds at which a bucket begins. Undefined for windows whose buckets are not periods of time. */
export function bucketStartMs(window: SpendWindow, bucket: number): number | undefined {
  if (window.kind === 'rolling') return bucket * widthMs(window.seconds);
  return window.kind === 'calendar' ? periodStartMs(window.unit, bucket) : undefined;
}

type Unit = Extract<SpendWindow, { kind: 'calendar' }>['unit'];

/** Days from 1 January 1970, a Thursday, back to Monday. */
const DAYS_TO_MONDAY = 3;

function periodAt(unit: Unit, nowMs: number): number {
  const day = Math.floor(nowMs / DAY_MS);
  if (unit === 'day') return day;
  if (unit === 'week') return Math.floor((day + DAYS_TO_MONDAY) / 7);
  const date = new Date(nowMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

function periodStartMs(unit: Unit, period: number): number {
  if (unit === 'day') return period * DAY_MS;
  if (unit === 'week') return (period * 7 - DAYS_TO_MONDAY) * DAY_MS;
  return Date.UTC(Math.floor(period / 12), period % 12, 1);
}
