import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isShort, prepareQuery, quantiseRow } from '../../../../src/memory/index/quantise.ts';
import { exactScore, toUnit } from '../../../support/unit-vectors.ts';

const vectors = fc
  .integer({ min: 1, max: 40 })
  .chain((dims) =>
    fc.tuple(
      ...[0, 1].map(() =>
        fc
          .array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: dims, maxLength: dims })
          .map((values) => toUnit(Float32Array.from(values))),
      ),
    ),
  ) as fc.Arbitrary<[Float32Array, Float32Array]>;

describe('a coarse vector', () => {
  it('has the exact score within the bound that its error gives', () => {
    fc.assert(
      fc.property(vectors, ([row, asked]) => {
        const whole = new Int16Array(row.length);
        const { error, scale } = quantiseRow(row, whole);
        const query = prepareQuery(asked, row.length);
        let sum = 0;
        for (let i = 0; i < row.length; i++) sum += (whole[i] ?? 0) * (query.coarse[i] ?? 0);
        const off = Math.abs(sum * scale * query.scale - exactScore(row, asked));
        expect(off).toBeLessThanOrEqual(error * query.wide + query.slack);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is as near as bytes allow: the error of a row of 512 is below a hundredth', () => {
    const row = toUnit(Float32Array.from({ length: 512 }, (_, i) => Math.sin(i * i)));
    expect(quantiseRow(row, new Int16Array(512)).error).toBeLessThan(0.01);
  });

  it('is all zeros, and all of it error, where the numbers are too small for a scale', () => {
    const tiny = new Float32Array(8).fill(1e-45);
    const whole = new Int16Array(8).fill(9);
    expect(quantiseRow(tiny, whole).scale).toBe(0);
    expect([...whole]).toEqual(new Array(8).fill(0));
  });
});

describe('a vector', () => {
  it('is refused when it is longer than a unit vector or not finite', () => {
    expect(isShort(Float32Array.of(0.6, 0.8))).toBe(true);
    expect(isShort(new Float32Array(4))).toBe(true);
    for (const wrong of [1.01, Number.NaN, Number.POSITIVE_INFINITY, 3e38]) {
      expect(isShort(Float32Array.of(0, wrong))).toBe(false);
    }
  });
});
