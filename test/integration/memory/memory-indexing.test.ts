import { describe, expect, it } from 'vitest';
import { EngineBusy, EngineCrashed } from '../../../src/engines/engine.ts';
import type { IndexingStep } from '../../../src/memory/indexing/indexing-deps.ts';
import { MEMORY_LIMITS } from '../../../src/memory/limits.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { memoryWorld, wordEmbedder } from '../../support/memory-world.ts';

const STEPS: readonly IndexingStep[] = ['claimed', 'embedded', 'completed'];
/** The claims of processes that died end now. */
const endClaims = (sql: Sql) =>
  sql`update memory_items set due_at = now() where status = 'processing' and due_at is not null`;
const never = new Promise<never>(() => {});

/** How many items there are of each status, and how many chunks each of them has. */
async function standing(sql: Sql) {
  const rows = await sql<{ status: string; items: number; least: number; most: number }[]>`
    select status, count(*)::int as items, min(chunks)::int as least, max(chunks)::int as most
    from (select i.id, i.status, count(c.id) as chunks from memory_items i
      left join memory_chunks c on c.item_id = i.id group by i.id) counted group by status`;
  return [...rows];
}

const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => ({ text: `fact ${from + n}` }));

describe('items that are ingested', () => {
  it('memories are indexed exactly once with a true status, however often the process dies at any step', async () => {
    await using w = await memoryWorld();
    const spaces = ['a', 'b', 'c', undefined];
    for (const [n, subTenantId] of spaces.entries()) {
      const memories = numbered(80, 100 * n);
      // The first process takes nothing: the ones that die do.
      await w.indexer[Symbol.asyncDispose]();
      await w.ask(w.agentId, 'ingest', { type: 'memory', memories, subTenantId });
    }
    let seed = 7;
    const chance = (most: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % most;
    };
    for (let deaths = 0; deaths < 40; deaths++) {
      let left = chance(12);
      const step = STEPS[chance(3)];
      const doomed = w.another({
        // From its death on, nothing of the process goes on.
        onStep: (at) => (left <= 0 || (at === step && left-- <= 1) ? never : undefined),
      });
      doomed.indexer.wake();
      await expect.poll(() => left <= 0 || isIdle(doomed.indexer)).toBeTruthy();
      for (const { least, most, status } of await standing(w.sql)) {
        const chunks = status === 'completed' ? 1 : 0;
        expect([status, least, most]).toEqual([status, chunks, chunks]);
      }
      await endClaims(w.sql);
    }
    const last = w.another();
    await endClaims(w.sql);
    await last.indexer.tick();
    await last.indexer.idle();
    expect(await standing(w.sql)).toEqual([{ status: 'completed', items: 320, least: 1, most: 1 }]);
  });

  it('a process whose claim has passed to another does not write its memories again', async () => {
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await using w = await memoryWorld({ onStep: (at) => (at === 'embedded' ? held : undefined) });
    await w.ask(w.agentId, 'ingest', { type: 'memory', memories: numbered(5) });
    await expect.poll(async () => (await standing(w.sql))[0]?.status).toBe('processing');
    await endClaims(w.sql);
    const quick = w.another({});
    await quick.indexer.tick();
    await quick.indexer.idle();
    goOn();
    await w.indexer.idle();
    expect(await standing(w.sql)).toEqual([{ status: 'completed', items: 5, least: 1, most: 1 }]);
  });

  it('queued memories are shared among processes, each by one of them', async () => {
    await using w = await memoryWorld();
    await w.indexer[Symbol.asyncDispose]();
    for (const subTenantId of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await w.ask(w.agentId, 'ingest', { type: 'memory', memories: numbered(60), subTenantId });
    }
    let embedded = 0;
    const embedder = {
      ...wordEmbedder,
      embed(texts: readonly string[], agentId: number) {
        embedded += texts.length;
        return wordEmbedder.embed(texts, agentId);
      },
    };
    const processes = Array.from({ length: 4 }, () => w.another({ embedder }));
    await Promise.all(processes.map(({ indexer }) => indexer.tick()));
    for (let n = 0; n < 2; n++) await Promise.all(processes.map((p) => p.indexer.idle()));
    expect(embedded).toBe(360);
    expect(await standing(w.sql)).toEqual([{ status: 'completed', items: 360, least: 1, most: 1 }]);
  });

  it('thousands of memories in one namespace do not delay those of others', async () => {
    await using w = await memoryWorld({ agents: 2 });
    await w.indexer[Symbol.asyncDispose]();
    for (let n = 0; n < 5; n++) {
      await w.ask(w.agentId, 'ingest', { type: 'memory', memories: numbered(100) });
    }
    await w.ask(w.otherId, 'ingest', { type: 'memory', memories: numbered(1) });
    let ofTheLoud = 0;
    let before: number | undefined;
    const { indexer } = w.another({
      embedder: {
        ...wordEmbedder,
        embed(texts, agentId) {
          if (agentId === w.otherId) before ??= ofTheLoud;
          else ofTheLoud += texts.length;
          return wordEmbedder.embed(texts, agentId);
        },
      },
    });
    indexer.wake();
    await indexer.idle();
    expect(before).toBeLessThanOrEqual(2 * MEMORY_LIMITS.indexing.itemsPerClaim);
    expect(ofTheLoud).toBe(500);
  });

  it('memories of an agent with 500 namespaces do not delay those of an agent with one', async () => {
    await using w = await memoryWorld({ agents: 2 });
    await w.indexer[Symbol.asyncDispose]();
    await w.ask(w.agentId, 'tenant/create', {});
    await w.sql`
      with made as (
        insert into memory_spaces (agent_id, sub_tenant, model, dims)
        select ${w.agentId}, n::text, ${wordEmbedder.model}, ${wordEmbedder.dims}
        from generate_series(1, 500) n returning id)
      insert into memory_items (id, space_id, agent_id, type, text, infer, metadata, status, due_at)
      select 'mem_' || id || '_' || n, id, ${w.agentId}, 'memory', 'fact ' || n, false, '{}',
        'queued', now()
      from made, generate_series(1, 2) n`;
    await w.ask(w.otherId, 'ingest', { type: 'memory', memories: numbered(1) });
    let ofTheLoud = 0;
    let before: number | undefined;
    let atOnce = 0;
    let most = 0;
    const { indexer } = w.another({
      embedder: {
        ...wordEmbedder,
        async embed(texts, agentId) {
          if (agentId === w.otherId) before ??= ofTheLoud;
          else ofTheLoud += texts.length;
          most = Math.max(most, ++atOnce);
          await new Promise((resolve) => setImmediate(resolve));
          atOnce--;
          return wordEmbedder.embed(texts, agentId);
        },
      },
    });
    indexer.wake();
    await indexer.idle();
    expect(before).toBeLessThanOrEqual(2 * 2);
    expect(most).toBeLessThanOrEqual(3);
    // And every namespace has had its turn.
    expect(ofTheLoud).toBe(1_000);
  });

  it('a queued memory is found behind many that are not due yet', async () => {
    await using w = await memoryWorld();
    await w.indexer[Symbol.asyncDispose]();
    await w.ask(w.agentId, 'tenant/create', {});
    await w.sql`
      with made as (
        insert into memory_spaces (agent_id, sub_tenant, model, dims)
        select ${w.agentId}, n::text, ${wordEmbedder.model}, ${wordEmbedder.dims}
        from generate_series(1, 60) n returning id)
      insert into memory_items (id, space_id, agent_id, type, text, infer, metadata, status, due_at)
      select 'mem_' || id, id, ${w.agentId}, 'memory', 'fact', false, '{}', 'queued',
        now() + interval '1 hour' from made`;
    const more = { type: 'memory', memories: numbered(1), subTenantId: 'last' };
    await w.ask(w.agentId, 'ingest', more);
    const { indexer } = w.another();
    await indexer.tick();
    await indexer.idle();
    const completed = await w.sql`select 1 from memory_items where status = 'completed'`;
    expect(completed).toHaveLength(1);
  });

  it('a memory waits while the embedding engine is busy, and fails after the engine has failed five times on it', async () => {
    let failure: Error | undefined = new EngineBusy(1);
    await using w = await memoryWorld({
      embedder: {
        ...wordEmbedder,
        embed(texts, agentId) {
          const isPoison = texts.some((text) => text.includes('poison'));
          if (failure !== undefined && (isPoison || failure instanceof EngineBusy)) {
            return Promise.reject(failure);
          }
          return wordEmbedder.embed(texts, agentId);
        },
      },
    });
    const hurry = async () => {
      await w.sql`update memory_items set due_at = now() where due_at is not null`;
      await w.indexer.tick();
      await w.indexer.idle();
    };
    const memories = [{ text: 'good one' }, { text: 'poison' }, { text: 'good two' }];
    const { body } = await w.ask(w.agentId, 'ingest', { type: 'memory', memories });
    const ids = body.result.data.results.map(({ id }: { id: string }) => id);
    const statuses = async () => {
      const answer = await w.ask(w.agentId, 'status', { ids });
      return answer.body.result.data.statuses.map(({ status }: { status: string }) => status);
    };
    for (let n = 0; n < 8; n++) await hurry();
    expect(await statuses()).toEqual(['queued', 'queued', 'queued']);
    failure = new EngineCrashed('the engine died');
    await hurry();
    expect(await statuses()).toEqual(['queued', 'queued', 'queued']);
    // From the second time on each is tried alone.
    await hurry();
    expect(await statuses()).toEqual(['completed', 'queued', 'completed']);
    for (let n = 0; n < 3; n++) await hurry();
    expect(await statuses()).toEqual(['completed', 'failed', 'completed']);
    await hurry();
    expect(await w.sql`select 1 from memory_items where due_at is not null`).toHaveLength(0);
  });

  it('a memory for which the embedding engine returns too few vectors stays queued and writes no chunk', async () => {
    let left = 1;
    await using w = await memoryWorld({
      embedder: {
        ...wordEmbedder,
        embed: async (texts, agentId) =>
          (await wordEmbedder.embed(texts, agentId)).slice(0, texts.length - left),
      },
    });
    await w.ask(w.agentId, 'ingest', { type: 'memory', memories: numbered(2) });
    await w.indexer.idle();
    expect(await standing(w.sql)).toEqual([{ status: 'queued', items: 2, least: 0, most: 0 }]);
    left = 0;
    await w.sql`update memory_items set due_at = now()`;
    await w.indexer.tick();
    await w.indexer.idle();
    expect(await standing(w.sql)).toEqual([{ status: 'completed', items: 2, least: 1, most: 1 }]);
  });

  it('a memory stays claimed for as long as its process works on it', async () => {
    const clock = new ManualClock(0);
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await using w = await memoryWorld({ clock, onStep: () => held });
    await w.ask(w.agentId, 'ingest', { type: 'memory', memories: numbered(2) });
    await expect.poll(async () => (await standing(w.sql))[0]?.status).toBe('processing');
    await w.sql`update memory_items set due_at = now() + interval '1 second'`;
    clock.advance(MEMORY_LIMITS.indexing.renewMs);
    await w.indexer.tick();
    const due = await w.sql<{ ms: number }[]>`
      select (extract(epoch from due_at - now()) * 1000)::float8 as ms from memory_items`;
    const { claimMs, renewMs } = MEMORY_LIMITS.indexing;
    for (const { ms } of due) expect(ms).toBeGreaterThan(claimMs - renewMs);
    goOn();
    await w.indexer.idle();
    expect(await standing(w.sql)).toMatchObject([{ status: 'completed', items: 2 }]);
  });
});

/** Whether nothing of an indexer is under way that has not stopped for good. */
async function isIdle(indexer: { idle(): Promise<void> }): Promise<boolean> {
  const pause = new Promise<'busy'>((resolve) => setTimeout(() => resolve('busy'), 50));
  return (await Promise.race([indexer.idle(), pause])) !== 'busy';
}
