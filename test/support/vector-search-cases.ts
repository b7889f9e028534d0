import { expect, it } from 'vitest';
import type { Found, SpaceQuery } from '../../src/memory/index/space-query.ts';
import type { OnChunks } from '../../src/memory/indexing/indexing-store.ts';
import type { VectorSearch } from '../../src/memory/search/vector-search.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { chanceOf, clusteredVectors, randomVector, searchAll } from './unit-vectors.ts';
import { type NewRow, vectorSpace } from './vector-spaces.ts';

export type SearchedDatabase = {
  readonly sql: Sql;
  /** Each of them has to find the same. */
  readonly searches: readonly VectorSearch[];
  readonly onChunks?: OnChunks;
  /** Resolves when what was written is searched in the way that is tested. */
  settle(): Promise<void>;
};

export const DIMS = 64;

export const aQuery = (more: Partial<SpaceQuery> = {}): SpaceQuery => ({
  vector: randomVector(chanceOf(99), DIMS),
  k: 5,
  ...more,
});

export function randomRows(seed: number, count: number): NewRow[] {
  const chance = chanceOf(seed);
  return Array.from({ length: count }, (_, n) => ({
    tag: n % 3 === 0 ? 1 : 0,
    vector: randomVector(chance, DIMS),
  }));
}

export const idsOf = (found: readonly { readonly id: number }[]) => found.map(({ id }) => id);

/** What was found is what there is to find, with its cosines. */
export function expectSame(found: readonly Found[], expected: readonly Found[]): void {
  expect(idsOf(found)).toEqual(idsOf(expected));
  for (const [n, { score }] of found.entries())
    expect(score).toBeCloseTo(expected[n]?.score ?? 9, 5);
}

/** What holds for every index of vectors. */
export function vectorSearchCases(database: () => SearchedDatabase): void {
  it('a vector search finds the nearest rows in order, with a tag and among given ids', async () => {
    const { onChunks, searches, settle, sql } = database();
    const space = await vectorSpace(sql, DIMS);
    const rows = await space.write(randomRows(1, 300), onChunks);
    await settle();
    const stored = await space.stored();
    const some = [...idsOf(rows).filter((id) => id % 7 === 0), 999_999_999];
    for (const asked of [
      aQuery(),
      aQuery({ tag: 0 }),
      aQuery({ tag: 1, k: 20 }),
      aQuery({ among: some, k: 100 }),
      aQuery({ among: some, tag: 1 }),
      aQuery({ among: [] }),
    ]) {
      for (const search of searches) {
        expectSame(await search.search(stored, asked), searchAll(rows, asked));
      }
    }
  });

  it('a vector search follows writes and deletions, and never finds a row of another space', async () => {
    const { onChunks, searches, settle, sql } = database();
    const space = await vectorSpace(sql, DIMS);
    const other = await vectorSpace(sql, DIMS);
    let rows = await space.write(randomRows(2, 200), onChunks);
    await other.write([{ tag: 0, vector: aQuery().vector }], onChunks);
    await settle();
    const expectFound = async () => {
      const stored = await space.stored();
      for (const search of searches) {
        expectSame(await search.search(stored, aQuery()), searchAll(rows, aQuery()));
      }
    };
    await expectFound();
    rows = [...rows, ...(await space.write([{ tag: 0, vector: aQuery().vector }], onChunks))];
    await expectFound();
    const [first, second, ...rest] = searchAll(rows, aQuery({ k: 200 }));
    const gone = new Set([first?.id, second?.id, rest[7]?.id]);
    await space.remove(rows.filter(({ id }) => gone.has(id)));
    rows = rows.filter(({ id }) => !gone.has(id));
    await expectFound();
    // A commit that follows upon a removal is found as well.
    rows = [...rows, ...(await space.write(randomRows(3, 20), onChunks))];
    await expectFound();
    for (const search of searches) {
      expect(await search.search(await other.stored(), aQuery())).toHaveLength(1);
    }
  });

  it('a vector search orders rows with equal scores by their ids', async () => {
    const { onChunks, searches, settle, sql } = database();
    const space = await vectorSpace(sql, DIMS);
    const vector = randomVector(chanceOf(4), DIMS);
    const same = Array.from({ length: 9 }, (_, n) => ({ tag: n % 2, vector }));
    const rows = await space.write(same, onChunks);
    await settle();
    const stored = await space.stored();
    for (const search of searches) {
      expect(idsOf(await search.search(stored, aQuery()))).toEqual(idsOf(rows).slice(0, 5));
    }
  });

  it('a vector search finds at least 95 % of the ten nearest of 5,000 clustered rows', async () => {
    const { onChunks, searches, settle, sql } = database();
    const dims = 32;
    const space = await vectorSpace(sql, dims);
    const shape = { count: 5_020, dims, centres: 50, spread: 0.5 };
    const vectors = clusteredVectors(chanceOf(5), shape);
    const asked = vectors.splice(5_000);
    const rows = [];
    for (let n = 0; n < vectors.length; n += 1_000) {
      const some = vectors.slice(n, n + 1_000).map((vector) => ({ tag: 0, vector }));
      rows.push(...(await space.write(some, onChunks)));
    }
    await settle();
    const stored = await space.stored();
    for (const search of searches) {
      let hits = 0;
      for (const vector of asked) {
        const expected = new Set(idsOf(searchAll(rows, { vector, k: 10 })));
        const found = await search.search(stored, { vector, k: 10 });
        hits += found.filter(({ id }) => expected.has(id)).length;
      }
      expect(hits / (10 * asked.length)).toBeGreaterThanOrEqual(0.95);
    }
  }, 120_000);
}
