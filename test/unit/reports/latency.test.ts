import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayAfter, dayOf, daysBetween } from '../../../src/reports/days.ts';
import { LATENCY_GROWTH, percentilesOf } from '../../../src/reports/latency.ts';

/** The bucket that the database chooses. */
const bucketOf = (ms: number): number =>
  ms < 1 ? 0 : 1 + Math.floor(Math.log(ms) / Math.log(LATENCY_GROWTH));

const histogramOf = (latencies: readonly number[]) =>
  latencies.map((ms) => ({ bucket: bucketOf(ms), calls: 1 }));

const isWithin = (told: number | null, exact: number): boolean =>
  told !== null && Math.abs(told - exact) <= exact * 0.05;

describe('the histogram of latency', () => {
  it('a percentile is within 5 % of the exact one', () => {
    const latency = fc.oneof(
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 0, max: 5_000 }),
      fc.integer({ min: 0, max: 2_147_483_647 }),
    );
    fc.assert(
      fc.property(fc.array(latency, { minLength: 1, maxLength: 200 }), (latencies) => {
        const sorted = latencies.toSorted((a, b) => a - b);
        const exact = (share: number) => sorted[Math.ceil((sorted.length * share) / 100) - 1] ?? -1;
        const { calls, p50Ms, p95Ms, p99Ms } = percentilesOf(histogramOf(latencies));
        expect(calls).toBe(latencies.length);
        expect([isWithin(p50Ms, exact(50)), isWithin(p95Ms, exact(95))]).toEqual([true, true]);
        expect(isWithin(p99Ms, exact(99))).toBe(true);
      }),
    );
  });

  it('a percentile of one latency up to 20 s is within 5 % of it', () => {
    for (let ms = 0; ms <= 20_000; ms++) {
      const { p50Ms } = percentilesOf(histogramOf([ms]));
      expect(isWithin(p50Ms, ms), `${ms} is reported as ${p50Ms}`).toBe(true);
    }
  });

  it('percentiles of no call are null', () => {
    expect(percentilesOf([])).toEqual({ calls: 0, p50Ms: null, p95Ms: null, p99Ms: null });
  });
});

describe('UTC days', () => {
  it('a list of days has its first and its last day, over the end of a leap February', () => {
    expect(daysBetween('2028-02-28', '2028-03-01')).toEqual([
      '2028-02-28',
      '2028-02-29',
      '2028-03-01',
    ]);
    expect(daysBetween('2028-03-02', '2028-03-01')).toEqual([]);
    expect(dayAfter('2028-03-01', -1)).toBe('2028-02-29');
    expect(dayOf(Date.parse('2028-02-29T23:59:59.999Z'))).toBe('2028-02-29');
  });
});
