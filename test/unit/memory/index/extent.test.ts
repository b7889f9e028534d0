import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Arena, SCRATCH } from '../../../../src/memory/index/arena.ts';
import { BLOCK_BYTES, layoutOf } from '../../../../src/memory/index/block-layout.ts';
import { Extent } from '../../../../src/memory/index/extent.ts';
import { isShort } from '../../../../src/memory/index/unit-length.ts';
import { chanceOf, exactScore, randomVector, toUnit } from '../../../support/unit-vectors.ts';

const arena = new Arena(8 * BLOCK_BYTES);
arena.reserve(1);

function extentWith(vectors: readonly Float32Array[], dims: number): Extent {
  const extent = new Extent(arena, arena.take(1), 0, layoutOf(dims));
  for (const [place, vector] of vectors.entries()) {
    extent.write(place, { id: place + 1, tag: place % 2, vector });
  }
  return extent;
}

/** What the kernel says of each row: the lowest and the highest score that it can have. */
function boundsOf(extent: Extent, asked: Float32Array, rows: number) {
  const query = arena.prepare(asked, extent.layout.stride);
  const { count } = extent.scan(query, 0, rows, Number.NEGATIVE_INFINITY);
  return Array.from({ length: count }, (_, i) => {
    const at = SCRATCH.candidates / 4 + 2 * i;
    const place = arena.i32[at] ?? 0;
    const upper = arena.f32[at + 1] ?? 0;
    const off = extent.errorAt(place) * query.wide + query.slack;
    return { place, upper, lower: upper - 2 * off };
  });
}

describe('the rows of an extent', () => {
  it('the exact score of a row lies within the bounds of its coarse score', () => {
    const value = fc.float({ min: -1, max: 1, noNaN: true });
    const vectors = fc.integer({ min: 1, max: 40 }).chain((dims) =>
      fc.array(
        fc
          .array(value, { minLength: dims, maxLength: dims })
          .map((values) => toUnit(Float32Array.from(values))),
        { minLength: 2, maxLength: 10 },
      ),
    );
    fc.assert(
      fc.property(vectors, ([asked = new Float32Array(), ...rows]) => {
        const extent = extentWith(rows, asked.length);
        const bounds = boundsOf(extent, asked, rows.length);
        for (const [place, row] of rows.entries()) {
          const exact = exactScore(row, asked);
          const bound = bounds.find((one) => one.place === place);
          expect(bound?.lower).toBeLessThanOrEqual(exact);
          expect(bound?.upper).toBeGreaterThanOrEqual(exact);
          expect(Math.abs(extent.scoreAt(place) - exact)).toBeLessThan(1e-12);
        }
        arena.give(extent);
      }),
      { numRuns: 500 },
    );
  });

  it('the score bounds of rows with 512 dimensions are narrower than 0.02', () => {
    const chance = chanceOf(1);
    const rows = Array.from({ length: 24 }, () => randomVector(chance, 512));
    const extent = extentWith(rows, 512);
    for (const { lower, upper } of boundsOf(extent, randomVector(chance, 512), 24)) {
      expect(upper - lower).toBeLessThan(0.02);
    }
    arena.give(extent);
  });

  it('the score bounds of a row hold for numbers too small for a scale and for a single large number', () => {
    const tiny = new Float32Array(16).fill(1e-40);
    const single = Float32Array.from({ length: 16 }, (_, i) => (i === 3 ? -1 : 0));
    const extent = extentWith([tiny, single], 16);
    const [ofTiny, ofSingle] = boundsOf(extent, single, 2);
    expect(ofTiny?.upper).toBeGreaterThanOrEqual(0);
    expect(ofTiny?.lower).toBeLessThanOrEqual(0);
    expect(ofSingle?.upper).toBeGreaterThanOrEqual(1);
    arena.give(extent);
  });

  it('a scan leaves out rows that cannot reach the requested score', () => {
    const chance = chanceOf(2);
    const rows = Array.from({ length: 100 }, () => randomVector(chance, 64));
    const extent = extentWith(rows, 64);
    const asked = rows[41] ?? new Float32Array(64);
    const query = arena.prepare(asked, 64);
    expect(extent.scan(query, 0, 100, 0.9)).toEqual({ scanned: 100, count: 1 });
    expect(arena.i32[SCRATCH.candidates / 4]).toBe(41);
    arena.give(extent);
  });

  it('copying a row changes no other row, and wiping all rows leaves a block of zeros', () => {
    const chance = chanceOf(3);
    const rows = Array.from({ length: 9 }, () => randomVector(chance, 50));
    const extent = extentWith(rows, 50);
    const before = boundsOf(extent, rows[0] ?? new Float32Array(50), 9);
    extent.copy(2, extent, 7);
    expect([extent.idAt(2), extent.tagAt(2), extent.errorAt(2)]).toEqual([8, 1, extent.errorAt(7)]);
    const after = boundsOf(extent, rows[0] ?? new Float32Array(50), 9);
    expect(after[2]).toEqual({ ...before[7], place: 2 });
    expect(after.filter(({ place }) => place !== 2)).toEqual(
      before.filter(({ place }) => place !== 2),
    );
    for (let place = 0; place < 9; place++) extent.wipe(place);
    const { address } = extent;
    expect(arena.u8.subarray(address, address + BLOCK_BYTES).every((byte) => byte === 0)).toBe(
      true,
    );
    arena.give(extent);
  });
});

describe('a vector', () => {
  it('a vector is refused when it is longer than a unit vector or not finite', () => {
    expect(isShort(Float32Array.of(0.6, 0.8))).toBe(true);
    expect(isShort(new Float32Array(4))).toBe(true);
    for (const wrong of [1.01, Number.NaN, Number.POSITIVE_INFINITY, 3e38]) {
      expect(isShort(Float32Array.of(0, wrong))).toBe(false);
    }
  });
});
