import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MOST_WEIGHTS } from '../../../media/kernel.ts';
import { resampleTable } from '../../../media/resample-table.ts';

const rate = fc.integer({ min: 8_000, max: 48_000 });

describe('the coefficient tables', () => {
  it('the resampler’s coefficient tables are shared by streams of the same pair of rates, and bounded in number', () => {
    const first = resampleTable(8_000, 16_000);
    expect(resampleTable(12_000, 24_000)).toBe(first);
    for (let from = 8_001; from < 8_021; from++) resampleTable(from, 16_000);
    expect(resampleTable(8_000, 16_000)).not.toBe(first);
  });

  it('the resampler’s coefficient tables stay below 1 MB, and every phase passes a constant unchanged', () => {
    fc.assert(
      fc.property(rate, rate, (from, to) => {
        const { filters, taps, phases } = resampleTable(from, to);
        expect(filters).toHaveLength(phases + 1);
        expect(taps).toBeLessThanOrEqual(MOST_WEIGHTS);
        expect(filters.length * taps * 8).toBeLessThan(1_000_000);
        for (const filter of filters) {
          expect(filter).toHaveLength(taps);
          expect([...filter].reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 6);
        }
      }),
      { numRuns: 20 },
    );
  });
});
