import { afterEach, describe, expect, it } from 'vitest';
import { EngineBusy, EngineCrashed, EngineInputRefused } from '../../../src/engines/engine.ts';
import { createWorkerClient } from '../../../src/engines/threads/worker-client.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { BLOCK_BYTES, layoutOf } from '../../../src/memory/index/block-layout.ts';
import type { IndexContract, IndexWorkerOptions } from '../../../src/memory/index/index-worker.ts';
import { SpaceNotLoaded } from '../../../src/memory/index/loaded-spaces.ts';
import type { IndexedRow } from '../../../src/memory/index/pack-rows.ts';
import { spacesBounds } from '../../../src/memory/index/spaces.ts';
import {
  createVectorIndex,
  SpaceTooLarge,
  type VectorIndex,
} from '../../../src/memory/index/vector-index.ts';
import { MEMORY_LIMITS } from '../../../src/memory/limits.ts';
import { compiledUrl } from '../../support/compiled.ts';
import { chanceOf, randomVector, searchAll } from '../../support/unit-vectors.ts';

const DIMS = 64;
const INDEX_WORKER = compiledUrl('src/memory/index/index-worker.ts');
const TRAPPING_WORKER = compiledUrl('test/support/trapping-index-worker.ts');

const open: VectorIndex[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((index) => index[Symbol.asyncDispose]()));
});

function startIndex({ bytes = 64 * BLOCK_BYTES, entry = INDEX_WORKER } = {}) {
  const bounds = spacesBounds(bytes);
  const client = createWorkerClient<IndexContract, IndexWorkerOptions>({
    name: 'memory index',
    clock: systemClock,
    log: silentLog,
    entry,
    options: () => bounds,
    maxInFlight: 2 * MEMORY_LIMITS.index.waiting,
  });
  const index = createVectorIndex(client, bounds);
  open.push(index);
  return { index, client };
}

function rowsOf(seed: number, count: number, dims = DIMS): IndexedRow[] {
  const chance = chanceOf(seed);
  return Array.from({ length: count }, (_, i) => ({
    id: i + 1,
    tag: i % 2,
    vector: randomVector(chance, dims),
  }));
}

async function* inPieces(rows: readonly IndexedRow[], size = 100) {
  for (let first = 0; first < rows.length; first += size) yield rows.slice(first, first + size);
}

const QUERY = { vector: randomVector(chanceOf(99), DIMS), k: 5 };
const ids = (found: readonly { readonly id: number }[]) => found.map(({ id }) => id);

describe('the index of vectors', () => {
  it('the vector index searches a space that was loaded in pieces, and follows additions and removals', async () => {
    const { index } = startIndex();
    const rows = rowsOf(1, 1_000);
    expect(index.versionOf(7)).toBeUndefined();
    await expect(index.search(7, QUERY)).rejects.toBeInstanceOf(SpaceNotLoaded);
    await index.load(7, DIMS, 3, inPieces(rows));
    expect(index.versionOf(7)).toBe(3);
    expect(index.bytes).toBe(Math.ceil(1_000 / layoutOf(DIMS).rows) * BLOCK_BYTES);
    expect(ids(await index.search(7, QUERY))).toEqual(ids(searchAll(rows, QUERY)));

    const best = { id: 5_000, tag: 0, vector: QUERY.vector };
    await index.add(7, 4, [best]);
    expect(index.versionOf(7)).toBe(4);
    expect((await index.search(7, QUERY))[0]).toMatchObject({ id: 5_000 });
    await index.remove(7, 5, [5_000, 123_456]);
    expect(index.versionOf(7)).toBe(5);
    expect(ids(await index.search(7, QUERY))).toEqual(ids(searchAll(rows, QUERY)));
    const tagged = { ...QUERY, tag: 1 };
    expect(ids(await index.search(7, tagged))).toEqual(ids(searchAll(rows, tagged)));
    const among = { ...QUERY, among: [4, 8, 15, 16, 23, 42] };
    expect(ids(await index.search(7, among))).toEqual(ids(searchAll(rows, among)));
    expect(QUERY.vector).toHaveLength(DIMS);
  });

  it('the vector index searches the loaded space until a new load is complete, and keeps it when that load fails', async () => {
    const { index } = startIndex();
    const before = rowsOf(2, 50);
    const after = rowsOf(3, 80);
    await index.load(1, DIMS, 1, inPieces(before));
    async function* watched() {
      yield after;
      expect(ids(await index.search(1, QUERY))).toEqual(ids(searchAll(before, QUERY)));
    }
    await index.load(1, DIMS, 2, watched());
    expect(ids(await index.search(1, QUERY))).toEqual(ids(searchAll(after, QUERY)));
    const { bytes } = index;
    async function* failing() {
      yield before;
      throw new Error('the database is away');
    }
    await expect(index.load(1, DIMS, 3, failing())).rejects.toThrow('the database is away');
    expect(index.versionOf(1)).toBe(2);
    expect(index.bytes).toBe(bytes);
    expect(ids(await index.search(1, QUERY))).toEqual(ids(searchAll(after, QUERY)));
  });

  it('the vector index forgets a dropped space, also during its load', async () => {
    const { index } = startIndex();
    const rows = rowsOf(4, 100);
    await index.load(1, DIMS, 1, inPieces(rows));
    async function* dropped() {
      yield rows;
      await index.drop(1);
      yield rows;
    }
    await expect(index.load(1, DIMS, 2, dropped())).rejects.toBeInstanceOf(SpaceNotLoaded);
    expect(index.versionOf(1)).toBeUndefined();
    expect(index.bytes).toBe(0);
    await expect(index.search(1, QUERY)).rejects.toBeInstanceOf(SpaceNotLoaded);
    await expect(index.add(1, 3, rows)).rejects.toBeInstanceOf(SpaceNotLoaded);
    await expect(index.remove(1, 3, [1])).rejects.toBeInstanceOf(SpaceNotLoaded);
    await index.drop(1);
  });

  it('the vector index unloads the least used space to make room, and refuses a space that is too large', async () => {
    const perBlock = layoutOf(DIMS).rows;
    const { index } = startIndex({ bytes: 4 * BLOCK_BYTES });
    const rows = rowsOf(5, 2 * perBlock);
    for (const space of [1, 2]) await index.load(space, DIMS, 1, inPieces(rows));
    await index.search(1, QUERY);
    await index.load(3, DIMS, 1, inPieces(rows));
    expect([1, 2, 3].map((space) => index.versionOf(space))).toEqual([1, undefined, 1]);
    await expect(index.search(2, QUERY)).rejects.toBeInstanceOf(SpaceNotLoaded);
    const tooMany = inPieces(rowsOf(6, 4 * perBlock + 1));
    await expect(index.load(4, DIMS, 1, tooMany)).rejects.toBeInstanceOf(SpaceTooLarge);
    expect(index.versionOf(4)).toBeUndefined();
    expect(index.bytes).toBeLessThanOrEqual(4 * BLOCK_BYTES);
  });

  it('the vector index loses all spaces with its thread, and works again once they are loaded', async () => {
    const { client, index } = startIndex();
    const rows = rowsOf(7, 300);
    await index.load(1, DIMS, 1, inPieces(rows));
    const underWay = Promise.allSettled([index.search(1, QUERY), index.add(1, 2, rows)]);
    await client.thread?.terminate();
    for (const { status, ...rest } of await underWay) {
      if (status === 'rejected') expect(rest).toMatchObject({ reason: { name: 'EngineCrashed' } });
    }
    expect(index.versionOf(1)).toBeUndefined();
    expect(index.bytes).toBe(0);
    await expect(index.search(1, QUERY)).rejects.toBeInstanceOf(SpaceNotLoaded);
    await index.drop(1);
    await index.load(1, DIMS, 2, inPieces(rows));
    expect(ids(await index.search(1, QUERY))).toEqual(ids(searchAll(rows, QUERY)));
  });

  it('the vector index fails a search that traps, and reports its space as not loaded from then on', async () => {
    const { index } = startIndex({ entry: TRAPPING_WORKER });
    await index.load(1, DIMS, 1, inPieces(rowsOf(8, 10)));
    await expect(index.search(1, QUERY)).rejects.toBeInstanceOf(EngineCrashed);
    await expect(index.search(1, QUERY)).rejects.toBeInstanceOf(SpaceNotLoaded);
  });

  it('the vector index fails a load whose thread dies in the middle', async () => {
    const { client, index } = startIndex();
    const rows = rowsOf(9, 10);
    async function* cut() {
      yield rows;
      await client.thread?.terminate();
      yield rows;
    }
    await expect(index.load(1, DIMS, 1, cut())).rejects.toBeInstanceOf(SpaceNotLoaded);
    expect(index.versionOf(1)).toBeUndefined();
  });

  it('the vector index answers a search of a small space before long searches that were requested earlier', async () => {
    const dims = 3_072;
    const { index } = startIndex({ bytes: 1_024 * BLOCK_BYTES });
    const few = rowsOf(12, 8, dims);
    const many = Array.from({ length: 3_500 }, (_, i) => ({
      id: i + 1,
      tag: 0,
      vector: few[i % few.length]?.vector ?? new Float32Array(dims),
    }));
    await index.load(1, dims, 1, inPieces(many));
    await index.load(2, dims, 1, inPieces(few));
    const query = { vector: few[3]?.vector ?? new Float32Array(dims), k: 3 };
    let answered = 0;
    const long = Array.from({ length: 40 }, async () => {
      await index.search(1, query);
      answered++;
    });
    expect((await index.search(2, query))[0]?.id).toBe(4);
    expect(answered).toBeLessThanOrEqual(1);
    await Promise.all(long);
  });

  it('the vector index refuses operations beyond a space’s queue limit, and then changes nothing', async () => {
    const { index } = startIndex();
    const rows = rowsOf(10, 100);
    for (const space of [1, 2]) await index.load(space, DIMS, 1, inPieces(rows));
    const { waitingPerSpace: indexWaitingPerSpace } = MEMORY_LIMITS.index;
    const asked = Array.from({ length: indexWaitingPerSpace }, () => index.search(1, QUERY));
    await expect(index.search(1, QUERY)).rejects.toBeInstanceOf(EngineBusy);
    await expect(index.add(1, 2, rows)).rejects.toBeInstanceOf(EngineBusy);
    expect(ids(await index.search(2, QUERY))).toEqual(ids(searchAll(rows, QUERY)));
    await Promise.all(asked);
    expect(index.versionOf(1)).toBe(1);
    expect(ids(await index.search(1, QUERY))).toEqual(ids(searchAll(rows, QUERY)));
  });

  it('the vector index refuses an invalid query, row or number of dimensions', async () => {
    const { index } = startIndex();
    await index.load(1, DIMS, 1, inPieces(rowsOf(11, 10)));
    const { among: indexAmong, dims: indexDims, results: indexResults } = MEMORY_LIMITS.index;
    const wrong = [
      { ...QUERY, vector: new Float32Array(DIMS + 1) },
      { ...QUERY, vector: new Float32Array(DIMS).fill(Number.NaN) },
      { ...QUERY, k: 0 },
      { ...QUERY, k: indexResults + 1 },
      { ...QUERY, among: new Array<number>(indexAmong + 1).fill(1) },
    ];
    for (const query of wrong) {
      await expect(index.search(1, query)).rejects.toBeInstanceOf(EngineInputRefused);
    }
    const loads = [0, 1.5, indexDims + 1].map((dims) => index.load(2, dims, 1, inPieces([])));
    for (const load of loads) await expect(load).rejects.toBeInstanceOf(EngineInputRefused);
    const long = { id: 1, tag: 0, vector: new Float32Array(DIMS).fill(1) };
    await expect(index.load(2, DIMS, 1, inPieces([long]))).rejects.toBeInstanceOf(
      EngineInputRefused,
    );
    expect(index.versionOf(2)).toBeUndefined();
  });
});
