import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resampleTable } from '../../../media/resample-table.ts';

const rate = fc.integer({ min: 8_000, max: 48_000 });

describe('the coefficient tables', () => {
  it('are shared by streams of the same pair, and bounded in number', () => {
    const first = resampleTable(8_000, 16_000);
    expect(resampleTable(12_000, 24_000)).toBe(first);
    for (let from = 8_001; from < 8_021; from++) resampleTable(from, 16_000);
    expect(resampleTable(8_000, 16_000)).not.toBe(first);
  });

  it('stay below 1 MB, and every phase passes a constant unchanged', () => {
    fc.assert(
      fc.property(rate, rate, (from, to) => {
        const { rows, taps, phases } = resampleTable(from, to);
        expect(rows.byteLength).toBeLessThan(1_000_000);
        for (let phase = 0; phase <= phases; phase++) {
          const row = rows.subarray(phase * taps, (phase + 1) * taps);
          expect(row.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 12);
        }
      }),
      { numRuns: 20 },
    );
  });
});
