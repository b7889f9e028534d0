import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { effectiveCapRaw } from '../../../src/policy/effective-cap.ts';
import { policyOf } from '../../support/spending.ts';

const cap = (
  change: Parameters<typeof policyOf>[0],
  taskValueBps: number | null = null,
  quality: number | null = null,
) => effectiveCapRaw(policyOf(change), { taskValueBps, quality: new Map([[3_600, quality]]) });

const bounds = { limitRaw: 1_000n, limitFloorRaw: 200n, limitCeilingRaw: 5_000n };
const throttle = { qualityFloorBps: 2_500, qualityWindowSeconds: 3_600 };

describe('what a policy allows', () => {
  it.each([
    [
      'its limit, where it has no bounds, whatever the task is worth',
      { limitRaw: 1_000n },
      90_000,
      1_000n,
    ],
    ['its limit, where no value of the task is given', bounds, null, 1_000n],
    ['twice as much for twice the value', bounds, 20_000, 2_000n],
    ['no more than its ceiling', bounds, 100_000, 5_000n],
    ['no less than its floor', bounds, 1, 200n],
    [
      'no more than the limit without a ceiling',
      { ...bounds, limitCeilingRaw: null },
      20_000,
      1_000n,
    ],
    ['no less than the limit without a floor', { ...bounds, limitFloorRaw: null }, 1, 1_000n],
    ['a share rounded down', { ...bounds, limitRaw: 1_001n }, 3_333, 333n],
  ] as const)('a policy’s effective cap is %s', (_, change, value, allowed) => {
    expect(cap(change, value)).toBe(allowed);
  });

  it.each([
    ['all of it without an outcome', null, 1_000n],
    ['all of it where outcomes are perfect', 10_000, 1_000n],
    ['half where they are half as good', 5_000, 500n],
    ['no less than its throttle goes', 0, 250n],
  ] as const)('a policy’s effective cap under a quality throttle is %s', (_, quality, allowed) => {
    expect(cap({ limitRaw: 1_000n, ...throttle }, null, quality)).toBe(allowed);
  });

  it('a policy’s effective cap is never throttled below its floor', () => {
    expect(cap({ ...bounds, ...throttle, limitFloorRaw: 400n }, null, 0)).toBe(400n);
  });

  it('a policy’s effective cap stays between its floor and ceiling and never falls when the task value rises', () => {
    const raw = fc.bigInt({ min: 1n, max: 10n ** 15n });
    const value = fc.integer({ min: 1, max: 100_000 });
    fc.assert(
      fc.property(raw, raw, raw, value, value, (a, b, c, one, other) => {
        const [limitFloorRaw, limitRaw, limitCeilingRaw] = [a, b, c].sort((x, y) =>
          x < y ? -1 : 1,
        );
        const change = { limitFloorRaw, limitRaw, limitCeilingRaw } as typeof bounds;
        const [low, high] = [Math.min(one, other), Math.max(one, other)];
        expect(cap(change, low) <= cap(change, high)).toBe(true);
        expect(cap(change, low) >= change.limitFloorRaw).toBe(true);
        expect(cap(change, high) <= change.limitCeilingRaw).toBe(true);
      }),
    );
  });
});
