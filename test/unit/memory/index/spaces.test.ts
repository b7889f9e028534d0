import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BLOCK_BYTES, layoutOf } from '../../../../src/memory/index/block-layout.ts';
import { type IndexedRow, packRows } from '../../../../src/memory/index/pack-rows.ts';
import type { Steps } from '../../../../src/memory/index/space.ts';
import type { Found, SpaceQuery } from '../../../../src/memory/index/space-query.ts';
import { type Outcome, Spaces, spacesBounds } from '../../../../src/memory/index/spaces.ts';
import { MEMORY_LIMITS } from '../../../../src/memory/limits.ts';
import {
  chanceOf,
  clusteredVectors,
  exactScore,
  randomVector,
  searchAll,
  toUnit,
} from '../../../support/unit-vectors.ts';

const MEMORY = 0;
const KNOWLEDGE = 1;

/** Does the steps one after the other. */
function through<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

function add(spaces: Spaces, key: number, rows: readonly IndexedRow[], dims: number): Outcome {
  for (const batch of packRows(rows, dims)) {
    const outcome = through(spaces.add(key, batch));
    if (outcome !== 'done') return outcome;
  }
  return 'done';
}

const find = (spaces: Spaces, key: number, query: SpaceQuery): Found[] => {
  const found = through(spaces.search(key, query));
  if (found === 'absent') throw new Error(`space ${key} is absent`);
  return found;
};

function randomRows(seed: number, count: number, dims: number): IndexedRow[] {
  const chance = chanceOf(seed);
  return Array.from({ length: count }, (_, i) => ({
    id: i + 1,
    tag: i % 3 === 0 ? KNOWLEDGE : MEMORY,
    vector: randomVector(chance, dims),
  }));
}

const spacesOf = (bytes: number, ownerShare?: number) =>
  new Spaces(spacesBounds(bytes, ownerShare));

/** Each space has an owner of its own, if nothing else is said. */
const open = (spaces: Spaces, key: number, dims: number, owner = key) =>
  through(spaces.open(key, { dims, owner }));

/** Many rows that are made fast, because they share vectors. */
function manyRows(count: number, dims: number): IndexedRow[] {
  const some = randomRows(22, 50, dims);
  return Array.from({ length: count }, (_, i) => ({
    id: i + 1,
    tag: MEMORY,
    vector: some[i % some.length]?.vector ?? new Float32Array(dims),
  }));
}

function spacesWith(rows: readonly IndexedRow[], dims: number, bytes = 64 * BLOCK_BYTES): Spaces {
  const spaces = spacesOf(bytes);
  open(spaces, 1, dims);
  expect(add(spaces, 1, rows, dims)).toBe('done');
  return spaces;
}

const ids = (found: readonly Found[]) => found.map(({ id }) => id);
const isZero = (bytes: Uint8Array) => Buffer.from(bytes).equals(Buffer.alloc(bytes.length));

describe('a search', () => {
  it('a memory search finds the same rows in the same order as an exhaustive Float64 search', () => {
    for (const [dims, count] of [
      [512, 600],
      [384, 400],
      [3_072, 30],
      [100, 1_500],
      [7, 2_500],
    ] as const) {
      const rows = randomRows(dims, count, dims);
      const spaces = spacesWith(rows, dims, 256 * BLOCK_BYTES);
      const chance = chanceOf(dims + 1);
      for (const k of [1, 10, 300]) {
        const query = { vector: randomVector(chance, dims), k };
        const found = find(spaces, 1, query);
        const expected = searchAll(rows, query);
        expect(ids(found)).toEqual(ids(expected));
        for (const [i, { score }] of found.entries()) {
          expect(Math.abs(score - (expected[i]?.score ?? 0))).toBeLessThan(1e-12);
        }
      }
    }
  });

  it('a memory search orders equal scores by id and agrees with an exhaustive search for arbitrary rows', () => {
    const vector = fc
      .array(fc.integer({ min: -2, max: 2 }), { minLength: 3, maxLength: 3 })
      .map((values) => toUnit(Float32Array.from(values)));
    const rows = fc.uniqueArray(
      fc.record({
        id: fc.integer({ min: 1, max: 2 ** 53 - 1 }),
        tag: fc.constantFrom(0, 1),
        vector,
      }),
      { selector: ({ id }) => id, maxLength: 60 },
    );
    const tag = fc.constantFrom(undefined, 0, 1);
    const spaces = spacesOf(64 * BLOCK_BYTES);
    let key = 0;
    fc.assert(
      fc.property(rows, vector, fc.integer({ min: 1, max: 70 }), tag, (all, asked, k, tagged) => {
        open(spaces, ++key, 3);
        expect(add(spaces, key, all, 3)).toBe('done');
        const found = find(spaces, key, { vector: asked, k, tag: tagged });
        const expected = searchAll(all, { vector: asked, k: 100, tag: tagged });
        // Sums that are equal by rights may differ in the last bit, by the order of their parts.
        const exact = new Map(all.map((row) => [row.id, exactScore(row.vector, asked)]));
        expect(found).toHaveLength(Math.min(k, expected.length));
        for (const [i, { id, score }] of found.entries()) {
          expect(Math.abs(score - (exact.get(id) ?? Number.NaN))).toBeLessThan(1e-12);
          expect(Math.abs(score - (expected[i]?.score ?? Number.NaN))).toBeLessThan(1e-12);
          const before = found[i - 1];
          if (before?.score === score) expect(before.id).toBeLessThan(id);
        }
        expect(new Set(ids(found)).size).toBe(found.length);
      }),
      { numRuns: 200 },
    );
  });

  it('a memory search orders thousands of equal vectors by id', () => {
    const vector = randomVector(chanceOf(3), 16);
    const rows = Array.from({ length: 6_000 }, (_, i) => ({ id: 6_000 - i, tag: 0, vector }));
    const spaces = spacesWith(rows, 16);
    expect(ids(find(spaces, 1, { vector, k: 5 }))).toEqual([1, 2, 3, 4, 5]);
  });

  it('a memory search finds all ten best rows when vectors lie close together', () => {
    const dims = 512;
    const chance = chanceOf(11);
    const shape = { count: 1_500, dims, centres: 4, spread: 0.25 };
    const vectors = clusteredVectors(chance, shape);
    const rows = vectors.map((vector, i) => ({ id: i + 1, tag: 0, vector }));
    const spaces = spacesWith(rows, dims, 256 * BLOCK_BYTES);
    for (const vector of vectors.slice(0, 10)) {
      const query = { vector, k: 10 };
      expect(ids(find(spaces, 1, query))).toEqual(ids(searchAll(rows, query)));
    }
  });

  it('a memory search with a tag finds only rows of that tag, even a single one', () => {
    const rows = randomRows(5, 2_000, 64).map((row) => ({ ...row, tag: row.id === 1_234 ? 1 : 0 }));
    const spaces = spacesWith(rows, 64);
    const vector = randomVector(chanceOf(6), 64);
    expect(ids(find(spaces, 1, { vector, k: 10, tag: KNOWLEDGE }))).toEqual([1_234]);
    expect(find(spaces, 1, { vector, k: 10, tag: MEMORY })).toHaveLength(10);
    expect(find(spaces, 1, { vector, k: 10, tag: 7 })).toEqual([]);
  });

  it('a memory search among given ids finds only rows with those ids and ignores unknown ids', () => {
    const rows = randomRows(7, 2_000, 64);
    const spaces = spacesWith(rows, 64);
    const query = {
      vector: randomVector(chanceOf(8), 64),
      k: 4,
      among: [1_999, 3, 700, 701, 702, 99_999],
    };
    expect(ids(find(spaces, 1, query))).toEqual(ids(searchAll(rows, query)));
    const both = { ...query, tag: KNOWLEDGE };
    expect(ids(find(spaces, 1, both))).toEqual(ids(searchAll(rows, both)));
    expect(find(spaces, 1, { ...query, among: [] })).toEqual([]);
  });

  it('a memory search finds no rows of another space whose rows are interleaved', () => {
    const spaces = spacesOf(64 * BLOCK_BYTES);
    open(spaces, 1, 512);
    open(spaces, 2, 512);
    const rows = randomRows(9, 200, 512);
    for (const row of rows) {
      expect(add(spaces, 1 + (row.id % 2), [row], 512)).toBe('done');
    }
    const query = { vector: randomVector(chanceOf(10), 512), k: 200 };
    const mine = rows.filter(({ id }) => id % 2 === 0);
    expect(ids(find(spaces, 1, query))).toEqual(ids(searchAll(mine, query)));
  });

  it('a memory search is cut into steps of limited size', () => {
    const dims = 3_072;
    const rows = manyRows(4_000, dims);
    const spaces = spacesWith(rows, dims, 1_001 * BLOCK_BYTES);
    const steps = spaces.search(1, { vector: rows[0]?.vector ?? new Float32Array(dims), k: 1_000 });
    let count = 1;
    while (steps.next().done !== true) count++;
    const scanned = (rows.length * dims) / MEMORY_LIMITS.index.stepBytes;
    expect(count).toBeGreaterThanOrEqual(Math.floor(scanned));
    expect(count).toBeLessThanOrEqual(6 * Math.ceil(scanned));
  });
});

describe('the rows of a space', () => {
  it('memory searches see a space’s rows after they are added, replaced by id and removed', () => {
    const dims = 48;
    const op = fc.oneof(
      fc.record({
        kind: fc.constant('add' as const),
        ids: fc.uniqueArray(fc.integer({ min: 1, max: 400 }), { maxLength: 150 }),
      }),
      fc.record({
        kind: fc.constant('remove' as const),
        ids: fc.uniqueArray(fc.integer({ min: 1, max: 400 }), { maxLength: 100 }),
      }),
    );
    const spaces = spacesOf(64 * BLOCK_BYTES);
    fc.assert(
      fc.property(fc.array(op, { maxLength: 12 }), fc.integer(), (ops, seed) => {
        const chance = chanceOf(seed);
        open(spaces, 1, dims);
        const model = new Map<number, IndexedRow>();
        for (const { ids: some, kind } of ops) {
          if (kind === 'add') {
            const rows = some.map((id) => ({ id, tag: 0, vector: randomVector(chance, dims) }));
            expect(add(spaces, 1, rows, dims)).toBe('done');
            for (const row of rows) model.set(row.id, row);
          } else {
            expect(through(spaces.remove(1, some))).toBe('done');
            for (const id of some) model.delete(id);
          }
          const query = { vector: randomVector(chance, dims), k: 500 };
          const expected = searchAll([...model.values()], query);
          expect(ids(find(spaces, 1, query))).toEqual(ids(expected));
          const needed = Math.ceil(model.size / layoutOf(dims).rows);
          expect(spaces.bytes).toBe(needed * BLOCK_BYTES);
        }
        through(spaces.drop(1));
      }),
      { numRuns: 60 },
    );
  });

  it('an insertion with one vector that is no unit vector is refused as a whole and changes no row', () => {
    const rows = randomRows(14, 10, 8);
    const spaces = spacesWith(rows, 8);
    const wrong = { id: 11, tag: 0, vector: new Float32Array(8).fill(1) };
    expect(() =>
      add(spaces, 1, [{ ...wrong, vector: rows[0]?.vector ?? wrong.vector }, wrong], 8),
    ).toThrow('no unit vector');
    expect(find(spaces, 1, { vector: new Float32Array(8), k: 20 })).toHaveLength(10);
  });
});

describe('memory that is given back', () => {
  it('the index memory of a removed row is zeroed and the other rows stay', () => {
    const rows = randomRows(15, 100, 512);
    const spaces = spacesWith(rows, 512);
    const traces = (row: IndexedRow) =>
      Buffer.from(spaces.memory.buffer).includes(Buffer.from(row.vector.buffer));
    const gone = rows.filter(({ id }) => id % 7 === 0 || id > 90);
    expect(gone.every(traces)).toBe(true);
    expect(through(spaces.remove(1, ids(gone.map((row) => ({ ...row, score: 0 })))))).toBe('done');
    expect(gone.some(traces)).toBe(false);
    expect(rows.filter((row) => !gone.includes(row)).every(traces)).toBe(true);
  });

  it('the index memory is all zeros after every row was removed one by one', () => {
    const rows = randomRows(16, 60, 512);
    const spaces = spacesWith(rows, 512);
    find(spaces, 1, { vector: randomVector(chanceOf(17), 512), k: 10 });
    expect(isZero(spaces.memory)).toBe(false);
    for (const { id } of rows) through(spaces.remove(1, [id]));
    expect(isZero(spaces.memory)).toBe(true);
    expect(spaces.bytes).toBe(0);
  });

  it('the index memory is all zeros after a space was dropped, replaced rows included', () => {
    const rows = randomRows(18, 300, 512);
    const spaces = spacesWith(rows, 512);
    expect(add(spaces, 1, rows.slice(0, 50), 512)).toBe('done');
    through(spaces.drop(1));
    expect(isZero(spaces.memory)).toBe(true);
    expect(spaces.bytes).toBe(0);
    expect(through(spaces.search(1, { vector: new Float32Array(512), k: 1 }))).toBe('absent');
  });
});

describe('the bound of the memory', () => {
  const dims = 512;
  const perBlock = layoutOf(dims).rows;

  it('a full memory index evicts the least recently used spaces', () => {
    const spaces = spacesOf(4 * BLOCK_BYTES);
    const rows = randomRows(19, 2 * perBlock, dims);
    const query = { vector: randomVector(chanceOf(20), dims), k: 3 };
    for (const key of [1, 2]) {
      open(spaces, key, dims);
      expect(add(spaces, key, rows, dims)).toBe('done');
    }
    find(spaces, 1, query);
    open(spaces, 3, dims);
    expect(add(spaces, 3, rows.slice(0, 1), dims)).toBe('done');
    expect(spaces.takeEvicted()).toEqual([2]);
    expect(spaces.takeEvicted()).toEqual([]);
    expect(spaces.bytes).toBe(3 * BLOCK_BYTES);
    expect(through(spaces.search(2, query))).toBe('absent');
    expect(ids(find(spaces, 1, query))).toEqual(ids(searchAll(rows, query)));
  });

  it('a space larger than the whole memory index is refused and evicts no other space', () => {
    const spaces = spacesOf(4 * BLOCK_BYTES);
    const rows = randomRows(21, 5 * perBlock, dims);
    open(spaces, 1, dims);
    expect(add(spaces, 1, rows.slice(0, 1), dims)).toBe('done');
    open(spaces, 2, dims);
    expect(add(spaces, 2, rows, dims)).toBe('full');
    expect(spaces.bytes).toBe(BLOCK_BYTES);
    expect(spaces.takeEvicted()).toEqual([]);
  });

  it('an owner above its share of the memory index loses its own spaces, and other owners keep theirs', () => {
    const spaces = spacesOf(16 * BLOCK_BYTES, 1 / 4);
    const rows = randomRows(24, 2 * perBlock, dims);
    open(spaces, 1, dims, 7);
    expect(add(spaces, 1, rows, dims)).toBe('done');
    for (const key of [2, 3, 4]) {
      open(spaces, key, dims, 8);
      expect(add(spaces, key, rows, dims)).toBe('done');
    }
    expect(spaces.takeEvicted()).toEqual([2]);
    expect(spaces.bytes).toBe(6 * BLOCK_BYTES);
    // What alone is more than the share is refused, though there is room.
    open(spaces, 5, dims, 9);
    expect(add(spaces, 5, randomRows(25, 5 * perBlock, dims), dims)).toBe('full');
    expect(spaces.takeEvicted()).toEqual([]);
  });

  it('the number of spaces is limited: the least recently used goes first, from an owner above its share', () => {
    const { spaces: indexSpaces } = MEMORY_LIMITS.index;
    const spaces = spacesOf(4 * BLOCK_BYTES, 1 / 4);
    for (let key = 1; key <= indexSpaces / 2; key++) open(spaces, key, dims, 0);
    const evicted = spaces.takeEvicted();
    expect([evicted.length, evicted[0]]).toEqual([indexSpaces / 4, 1]);
    const vector = randomVector(chanceOf(26), dims);
    expect(find(spaces, indexSpaces / 2 - 1, { vector, k: 1 })).toEqual([]);
    for (let key = 1; key <= indexSpaces; key++) open(spaces, 10 * indexSpaces + key, dims, key);
    expect(spaces.takeEvicted()).toHaveLength(indexSpaces / 4);
  });

  it('the memory index evicts no second space for room that is already being freed', () => {
    const spaces = spacesOf(1_060 * BLOCK_BYTES);
    const vectors = new Float32Array(4_000 * dims);
    const start = (key: number, count: number) => {
      open(spaces, key, dims);
      return spaces.add(key, {
        ids: Float64Array.from({ length: count }, (_, i) => i + 1),
        tags: new Uint8Array(count),
        vectors: vectors.subarray(0, count * dims),
      });
    };
    for (let first = 0; first < 6; first++) {
      const ids = Float64Array.from({ length: 4_000 }, (_, i) => first * 4_000 + i + 1);
      if (first === 0) open(spaces, 1, dims);
      through(spaces.add(1, { ids, tags: new Uint8Array(4_000), vectors }));
    }
    expect(through(start(2, 1_000))).toBe('done');
    const adds = [start(3, 2_000), start(4, 4_000)];
    const outcomes = adds.map((): Outcome | undefined => undefined);
    expect(adds[0]?.next().done).toBe(false);
    for (let turns = 0; turns < 100 && outcomes.includes(undefined); turns++) {
      for (const [i, steps] of adds.entries()) {
        const { done, value } = steps.next();
        if (done === true) outcomes[i] ??= value;
      }
    }
    expect(outcomes).toEqual(['done', 'done']);
    expect(spaces.takeEvicted()).toEqual([1]);
  });

  it('a memory search whose space is evicted midway ends without rows of another space', () => {
    const spaces = spacesOf(1_201 * BLOCK_BYTES);
    const many = manyRows(25_000, dims);
    open(spaces, 1, dims);
    expect(add(spaces, 1, many, dims)).toBe('done');
    const steps = spaces.search(1, { vector: randomVector(chanceOf(23), dims), k: 10 });
    expect(steps.next().done).toBe(false);
    open(spaces, 2, dims);
    expect(add(spaces, 2, many, dims)).toBe('done');
    expect(spaces.takeEvicted()).toEqual([1]);
    expect(through(steps)).toBe('absent');
  });
});
