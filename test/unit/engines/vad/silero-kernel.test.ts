import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Kernel, padded } from '../../../../src/engines/vad/silero-kernel.ts';

/** Small enough for every sum to be exact, in whatever order it is added. */
const small = fc.integer({ min: -64, max: 64 });
const layerOf = (columns: number) =>
  fc.record({
    rows: fc.array(fc.array(small, { minLength: columns, maxLength: columns }), {
      minLength: 1,
      maxLength: 9,
    }),
    biases: fc.array(small, { minLength: 9, maxLength: 9 }),
    values: fc.array(small, { minLength: columns, maxLength: columns }),
    least: fc.constantFrom(0, Number.NEGATIVE_INFINITY),
  });

describe('the kernel of the model', () => {
  it('the kernel of the VAD model adds biases to the product of weights and values, and clips below its minimum', () => {
    const cases = fc.integer({ min: 1, max: 40 }).chain(layerOf);
    fc.assert(
      fc.property(cases, ({ biases, least, rows, values }) => {
        const kernel = new Kernel(1_000);
        const layer = kernel.layer(rows, biases.slice(0, rows.length));
        const valuesAt = kernel.take(values.length);
        kernel.floats.set(values, valuesAt);
        const outAt = kernel.take(rows.length);
        kernel.apply(layer, valuesAt, outAt, least);
        const sums = rows.map((row, r) =>
          row.reduce((sum, weight, i) => sum + weight * (values[i] ?? 0), biases[r] ?? 0),
        );
        const written = kernel.floats.subarray(outAt, outAt + rows.length);
        expect([...written]).toEqual(sums.map((sum) => Math.max(least, sum)));
      }),
      { numRuns: 30 },
    );
  });

  it('the kernel of the VAD model gives each layer and vector its own memory, padded with zeros', () => {
    const kernel = new Kernel(100);
    const first = kernel.take(3);
    const second = kernel.take(9);
    expect(second - first).toBe(padded(3));
    expect(kernel.take(1) - second).toBe(16);
    expect([...kernel.floats.subarray(0, 100)].every((value) => value === 0)).toBe(true);
  });

  it('the kernel of the VAD model refuses a vector beyond its memory', () => {
    expect(() => new Kernel(100).take(20_000)).toThrow('no room');
  });
});
