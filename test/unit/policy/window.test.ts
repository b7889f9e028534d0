import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SpendWindow } from '../../../src/policy/policy.ts';
import { bucketAt, bucketStartMs, bucketsOf } from '../../../src/policy/window.ts';
import { policyOf } from '../../support/spending.ts';

const instant = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });
const widthMs = (seconds: number) => bucketStartMs({ kind: 'rolling', seconds }, 1) ?? 0;
const at = (window: SpendWindow, nowMs: number) => bucketAt(policyOf({ window }), nowMs);

describe('a rolling window', () => {
  it('a rolling window’s buckets cover at least its length and less than two buckets more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 60, max: 31_536_000 }), instant, (seconds, nowMs) => {
        const window = { kind: 'rolling', seconds } as const;
        const oldest = at(window, nowMs) - bucketsOf(window) + 1;
        const coveredMs = nowMs - (bucketStartMs(window, oldest) ?? 0);
        expect(coveredMs).toBeGreaterThanOrEqual(seconds * 1_000);
        expect(coveredMs).toBeLessThan(seconds * 1_000 + 2 * widthMs(seconds));
      }),
    );
  });
});

describe('a calendar window', () => {
  it.each([
    ['day', '2026-11-21T23:59:59.999Z', '2026-11-21T00:00:00.000Z'],
    ['day', '2026-11-22T00:00:00.000Z', '2026-11-22T00:00:00.000Z'],
    ['week', '2026-11-22T23:59:59.999Z', '2026-11-16T00:00:00.000Z'],
    ['week', '2026-11-23T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
    ['month', '2026-02-28T23:59:59.999Z', '2026-02-01T00:00:00.000Z'],
    ['month', '2024-02-29T12:00:00.000Z', '2024-02-01T00:00:00.000Z'],
    ['month', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00.000Z'],
    ['month', '2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ] as const)(
    'a calendar window of a %s puts %s into the one that begins at %s',
    (unit, now, begins) => {
      const window = { kind: 'calendar', unit } as const;
      const startMs = bucketStartMs(window, at(window, Date.parse(now)));
      expect(new Date(startMs ?? 0).toISOString()).toBe(begins);
      expect(bucketsOf(window)).toBe(1);
    },
  );

  it('a calendar window begins where the one before it ends and contains every instant between', () => {
    fc.assert(
      fc.property(fc.constantFrom('day', 'week', 'month'), instant, (unit, nowMs) => {
        const window = { kind: 'calendar', unit } as const;
        const bucket = at(window, nowMs);
        const startMs = bucketStartMs(window, bucket) ?? 0;
        const endMs = bucketStartMs(window, bucket + 1) ?? 0;
        expect(startMs <= nowMs && nowMs < endMs).toBe(true);
        expect(at(window, endMs)).toBe(bucket + 1);
        expect(at(window, endMs - 1)).toBe(bucket);
      }),
    );
  });
});

describe('a window without an end', () => {
  it('a once window drops spending before its policy takes effect and keeps all later spending', () => {
    const policy = policyOf({ window: { kind: 'once' }, effectiveFromSec: 1_000 });
    expect(bucketAt(policy, 999_999)).toBe(0);
    expect(bucketAt(policy, 1_000_000)).toBe(1);
    expect(bucketAt(policyOf({ window: { kind: 'session' } }), 5e12)).toBe(0);
    expect(bucketStartMs({ kind: 'once' }, 1)).toBeUndefined();
  });
});
