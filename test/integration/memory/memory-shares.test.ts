import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BLOCK_BYTES } from '../../../src/memory/index/block-layout.ts';
import { spacesBounds } from '../../../src/memory/index/spaces.ts';
import { lockTenant } from '../../../src/memory/tenant-store.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { longestStallMs } from '../../support/longest-stall.ts';
import { indexInThisThread, memoryWorld } from '../../support/memory-world.ts';
import { slowness } from '../../support/thread-cpu.ts';
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
  it('a namespace above an agent’s quarter of vector memory is refused before a row is read, and others stay loaded', async () => {
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

  it('an agent’s locked memory store does not block reads and writes of other agents', async () => {
    await using w = await memoryWorld({ shared });
    const memories = [{ text: 'tea' }];
    const ask = (agentId: number) => w.ask(agentId, 'ingest', { type: 'memory', memories });
    expect((await ask(w.agentId)).status).toBe(200);
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let isLocked = () => {};
    const locked = new Promise<void>((resolve) => {
      isLocked = resolve;
    });
    const holder = w.sql.begin(async (tx) => {
      await lockTenant(tx, w.agentId);
      isLocked();
      await held;
    });
    await locked;
    // More than the pool has connections.
    const waiting = Array.from({ length: 20 }, () => ask(w.agentId));
    const more = [
      w.ask(w.agentId, 'delete', { ids: ['mem_x'] }),
      w.ask(w.agentId, 'tenant/create', {}),
    ];
    expect((await ask(w.otherId)).status).toBe(200);
    const rows = await w.sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    expect(rows).toHaveLength(1);
    letGo();
    const answers = await Promise.all([...waiting, ...more]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await holder;
  });

  it('an agent’s memory writes beyond the queue limit are refused with 503 and Retry-After', async () => {
    await using w = await memoryWorld({ shared });
    const asked = Array.from({ length: 80 }, () => w.ask(w.agentId, 'tenant/create', {}));
    const answers = await Promise.all(asked);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    }
  });
});

describe('a store with 10,000 namespaces', () => {
  it('a memory store with 10,000 namespaces is deleted without a turn over 50 ms, with others loaded', async () => {
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
    expect(stalledMs / slowness()).toBeLessThan(50);
  });
});
