import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BLOCK_BYTES } from '../../../src/memory/index/block-layout.ts';
import { spacesBounds } from '../../../src/memory/index/vector-index.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { longestStallMs } from '../../support/longest-stall.ts';
import { indexInThisThread, memoryWorld } from '../../support/memory-world.ts';
import { chanceOf, randomVector } from '../../support/unit-vectors.ts';
import { vectorSpace } from '../../support/vector-spaces.ts';

let shared: TestDatabase;
beforeAll(async () => {
  shared = await testDatabase(8);
});
afterAll(() => shared[Symbol.asyncDispose]());

const DIMS = 64;

async function* noRows() {}

describe('the share that an agent has of a process', () => {
  it('of its vectors is a quarter: a namespace with more is refused before a row is read, and others stay loaded', async () => {
    const { sql } = shared;
    const { index } = indexInThisThread(spacesBounds(16 * BLOCK_BYTES, 1 / 4));
    await using w = await memoryWorld({ shared, index });
    const chance = chanceOf(1);
    const rows = (count: number) =>
      Array.from({ length: count }, () => ({ tag: 0, vector: randomVector(chance, DIMS) }));
    const small = await vectorSpace(sql, DIMS);
    await small.write(rows(3));
    const large = await vectorSpace(sql, DIMS);
    const most = index.mostRows(DIMS);
    await large.write(rows(most + 1));
    const query = { vector: randomVector(chance, DIMS), k: 5 };
    expect(await w.loader.search(await small.stored(), query)).toHaveLength(3);
    const { bytes } = index;
    const refused = w.loader.search(await large.stored(), query);
    await expect(refused).rejects.toMatchObject({ status: 503, error: 'vendor_unavailable' });
    expect([index.bytes, index.versionOf(small.id)]).toEqual([bytes, 1]);
    // Namespaces that fit one by one take each other's place.
    const fitting = await Promise.all([1, 2, 3].map(() => vectorSpace(sql, DIMS)));
    for (const space of fitting) {
      await space.write(rows(Math.floor(most / 2)));
      const stored = { ...(await space.stored()), agentId: large.agentId };
      expect(await w.loader.search(stored, query)).toHaveLength(5);
    }
    expect(fitting.map(({ id }) => index.versionOf(id))).toEqual([undefined, 1, 1]);
    expect(index.versionOf(small.id)).toBe(1);
  });
});

describe('a store with 10,000 namespaces', () => {
  it('is deleted without a turn over 50 ms, whatever else is loaded', async () => {
    await using w = await memoryWorld({ shared });
    await w.ask(w.agentId, 'tenant/create', {});
    await w.sql`insert into memory_spaces (agent_id, sub_tenant, model, dims)
      select ${w.agentId}, n::text, 'test/words', ${DIMS} from generate_series(1, 10000) n`;
    for (let space = 1; space <= 4_000; space++) {
      await w.index.load(-space, DIMS, 1, noRows(), -space);
    }
    const stalledMs = await longestStallMs(async () => {
      const { status } = await w.ask(w.agentId, 'tenant/delete', { confirm: true });
      expect(status).toBe(200);
    });
    expect(stalledMs).toBeLessThan(50);
  });
});
