import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlainIndex } from '../../../../src/memory/search/plain-index.ts';

const row = (id: number, ...vector: number[]) => ({
  ...{ id, tag: id % 2, vector: Float32Array.from(vector) },
});
async function* pieces<T>(...all: T[]) {
  yield* all;
}
const ids = (found: readonly { id: number }[]) => found.map(({ id }) => id);

describe('the plain index', () => {
  it('finds exactly the nearest rows, whatever was added and removed', async () => {
    const number = fc.integer({ min: -8, max: 8 });
    const vectors = fc.array(fc.tuple(number, number, number), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(vectors, fc.nat(), fc.integer({ min: 1, max: 9 }), async (all, cut, k) => {
        const rows = all.map((vector, n) => row(n + 1, ...vector));
        const split = cut % (rows.length + 1);
        const index = new PlainIndex();
        await index.load(1, 3, 1, pieces(rows.slice(0, split)));
        await index.add(1, 2, rows.slice(split));
        const gone = rows.filter((_, n) => n % 3 === cut % 3).map(({ id }) => id);
        await index.remove(1, 3, [...gone, 9_999]);
        const query = Float32Array.from([1, -2, 3]);
        const score = (vector: Float32Array) =>
          vector.reduce((sum, value, n) => sum + value * (query[n] ?? 0), 0);
        const expected = rows
          .filter(({ id }) => !gone.includes(id))
          .map(({ id, vector }) => ({ id, score: score(vector) }))
          .sort((a, b) => b.score - a.score || a.id - b.id);
        expect(await index.search(1, { vector: query, k })).toEqual(expected.slice(0, k));
        expect(index.versionOf(1)).toBe(3);
        const odd = expected.filter(({ id }) => id % 2 === 1).slice(0, k);
        expect(await index.search(1, { vector: query, k, tag: 1 })).toEqual(odd);
        const among = [2, 4, 5, 9_999];
        const few = expected.filter(({ id }) => among.includes(id)).slice(0, k);
        expect(await index.search(1, { vector: query, k, among })).toEqual(few);
      }),
    );
  });

  it('keeps each row once, also where it is added again', async () => {
    const index = new PlainIndex();
    await index.load(1, 1, 1, pieces([row(1, 1)]));
    await index.add(1, 2, [row(1, 1), row(2, 0.5)]);
    expect(ids(await index.search(1, { vector: Float32Array.of(1), k: 9 }))).toEqual([1, 2]);
  });

  it('makes room by what was asked for least lately, and holds no more than it may', async () => {
    const spaceBytes = 64 * 4;
    const index = new PlainIndex(2 * spaceBytes);
    for (const id of [1, 2]) await index.load(id, 1, 1, pieces([row(1, 1)]));
    await index.search(1, { vector: Float32Array.of(1), k: 1 });
    await index.load(3, 1, 1, pieces([row(1, 1)]));
    expect([1, 2, 3].map((id) => index.versionOf(id))).toEqual([1, undefined, 1]);
    expect(index.bytes).toBe(2 * spaceBytes);
    await index.drop(1);
    expect(index.bytes).toBe(spaceBytes);
  });
});
