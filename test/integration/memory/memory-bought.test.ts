import { describe, expect, it } from 'vitest';
import { wakeAffordable } from '../../../src/memory/indexing/indexing-store.ts';
import { MEMORY_LIMITS } from '../../../src/memory/limits.ts';
import type { Models } from '../../../src/memory/purchase/models.ts';
import type { Tracer } from '../../../src/platform/tracing/span.ts';
import { RecordedSpan } from '../../support/recorded-span.ts';
import { OTHER_VECTORS, sellingMemory, VECTORS } from '../../support/selling-memory.ts';

/** Five tokens at a tenth of a cent each, and the margin of a twentieth. */
const COST = 5_250n;
const never = new Promise<never>(() => {});

const semantic = (query: string, more: object = {}) => ({ query, mode: 'semantic', ...more });

describe('memories whose vectors are bought', () => {
  it('vectors of a memory are one purchase of the agent, with the same cost in status, receipt and ledger', async () => {
    await using w = await sellingMemory();
    const told = await w.ingest(['her car is red', 'his house is blue']);
    expect(told).toMatchObject({ status: 200, headers: {}, bill: undefined });
    await w.indexer.idle();
    const ids = told.body.result.data.results.map(({ id }: { id: string }) => id);
    const { body } = await w.ask(w.agentId, 'status', { ids });
    expect(body.result.data.statuses).toEqual(
      ids.map((id: string) => ({ id, status: 'completed', costRaw: `${COST}` })),
    );
    // Both are indexed at a time, in either order.
    const sent = w.upstream.seen.map(({ body: one }) => one);
    expect(sent).toHaveLength(2);
    for (const text of ['her car is red', 'his house is blue']) {
      expect(sent).toContainEqual(
        expect.objectContaining({ model: 'm', input: [text], encoding_format: 'base64' }),
      );
    }
    expect(await w.money()).toEqual({ consumed: 2n * COST, held: 0n });
    const answer = await w.ask(w.agentId, 'query', semantic('which car'));
    expect(answer.body.result.data.chunks).toHaveLength(2);
    expect(answer.body.result.data.costRaw).toBe(`${COST}`);
    expect(answer.headers).toMatchObject({
      'x-svc-cost-usdc': `${COST}`,
      'x-svc-payment': 'gateway',
      'x-svc-model': VECTORS,
    });
    expect(await w.money()).toEqual({ consumed: 3n * COST, held: 0n });
    const [space] = await w.sql`select model, dims from memory_spaces`;
    expect(space).toEqual({ model: VECTORS, dims: 4 });
    expect(await w.sql`select 1 from memory_purchases`).toHaveLength(0);
    const charges = await w.sql`select model from charges where agent_id = ${w.agentId}`;
    expect(charges).toHaveLength(3);
  });

  it('memories of an ingest whose process was lost are found by its Idempotency-Key', async () => {
    await using w = await sellingMemory();
    const { signal } = new AbortController();
    const body = { type: 'memory', memories: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] };
    expect(await w.memory.recall(w.agentId, 'work_1')).toBeUndefined();
    const told = await w.memory.run(
      'ingest',
      { agentId: w.agentId, workId: 'work_1' },
      body,
      signal,
    );
    expect(await w.memory.recall(w.agentId, 'work_1')).toEqual(told);
    expect(await w.memory.recall(w.agentId, 'work_2')).toBeUndefined();
    expect(await w.memory.recall(w.agentId + 1, 'work_1')).toBeUndefined();
    await w.indexer.idle();
  });

  it('the indexing of a memory is traced as work of its own, and a query as a child of its request', async () => {
    const traces: RecordedSpan[] = [];
    const start: Tracer['start'] = (name, begun) => {
      const span = new RecordedSpan(name, begun);
      traces.push(span);
      return span;
    };
    await using w = await sellingMemory({ tracer: { start } });
    await w.ingest(['her car is red']);
    await w.indexer.idle();
    const cost = { 'svc.cost_raw': Number(COST) };
    expect(traces).toMatchObject([
      {
        name: 'memory indexing',
        ended: {},
        attributes: { 'svc.agent.id': w.agentId, ...cost },
        children: [{ name: 'embeddings m', ended: {}, attributes: cost }],
      },
    ]);
    const request = new RecordedSpan('request');
    const { signal } = new AbortController();
    const caller = { agentId: w.agentId, span: request };
    await w.memory.run('query', caller, semantic('which car'), signal);
    expect(request.children).toMatchObject([{ name: 'embeddings m', attributes: cost }]);
    w.upstream.faults.push({ kind: 'status', status: 500 });
    await w.ingest(['his house is blue']);
    await w.indexer.idle();
    expect(traces[1]?.ended?.error).toEqual(expect.any(String));
  });

  it('searching memories by words, or an empty memory by meaning, costs nothing', async () => {
    await using w = await sellingMemory();
    await w.ask(w.agentId, 'tenant/create', {});
    expect(await w.ask(w.agentId, 'query', semantic('car'))).toMatchObject({
      status: 200,
      headers: {},
      bill: undefined,
    });
    await w.ingest(['her car is red']);
    await w.indexer.idle();
    const answer = await w.ask(w.agentId, 'query', { query: 'car', mode: 'keyword' });
    expect(answer).toMatchObject({ status: 200, headers: {}, bill: undefined });
    expect(answer.body.result.data.chunks).toHaveLength(1);
    expect(await w.money()).toEqual({ consumed: COST, held: 0n });
  });

  it('a memory waits for the balance that its vectors need, reports it, and is indexed when it is credited', async () => {
    await using w = await sellingMemory({ fundsRaw: 0n });
    const told = await w.ingest(['her car is red']);
    await w.indexer.idle();
    const [{ id }] = told.body.result.data.results;
    const status = async () =>
      (await w.ask(w.agentId, 'status', { ids: [id] })).body.result.data.statuses[0];
    expect(await status()).toEqual({ id, status: 'queued', reason: 'insufficient_balance' });
    await wakeAffordable(w.sql);
    await w.indexer.tick();
    await w.indexer.idle();
    expect(w.upstream.seen).toHaveLength(0);
    await w.ledger.credit({ agentId: w.agentId, amountRaw: 1_000_000n, reference: 'late' });
    await wakeAffordable(w.sql);
    await w.indexer.tick();
    await w.indexer.idle();
    expect(await status()).toEqual({ id, status: 'completed', costRaw: `${COST}` });
    const refused = await w.ask(w.agentId, 'query', semantic('car'));
    expect(refused.status).toBe(200);
  });

  it('a memory without balance waits longer at each attempt, and fails in the end', async () => {
    await using w = await sellingMemory({ fundsRaw: 0n });
    await w.ingest(['her car is red']);
    await w.indexer.idle();
    const waited = async () => {
      const [row] = await w.sql<{ ms: number; waits: number }[]>`
        select extract(epoch from due_at - now())::float8 * 1000 as ms, waits from memory_items`;
      return row;
    };
    const { first, most, times } = MEMORY_LIMITS.indexing.refusedMs;
    expect((await waited())?.ms).toBeLessThanOrEqual(first);
    for (const waits of [11, times - 1]) {
      await w.sql`update memory_items set waits = ${waits}`;
      await w.due();
      await w.indexer.tick();
      await w.indexer.idle();
      if (waits === 11) {
        expect((await waited())?.ms).toBeGreaterThan(most - 60_000);
        expect((await waited())?.ms).toBeLessThanOrEqual(most);
      }
    }
    expect(await w.items()).toMatchObject([{ status: 'failed', reason: 'insufficient_balance' }]);
    expect(await w.ask(w.agentId, 'query', semantic('car'))).toMatchObject({ status: 200 });
  });

  it('a semantic query that the balance does not cover is refused with 402, and a keyword query is served', async () => {
    await using w = await sellingMemory({ fundsRaw: 20_000n });
    await w.ingest(['her car is red']);
    await w.indexer.idle();
    const long = 'car '.repeat(200);
    const before = await w.money();
    const refused = await w.ask(w.agentId, 'query', semantic(long));
    expect(refused).toMatchObject({ status: 402, body: { error: 'budget_exhausted' } });
    const words = await w.ask(w.agentId, 'query', { query: 'car', mode: 'keyword' });
    expect(words.body.result.data.chunks).toHaveLength(1);
    expect(await w.money()).toEqual(before);
  });

  it('a read-only key is refused a semantic query that costs money, and served a keyword query', async () => {
    await using w = await sellingMemory();
    await w.ingest(['her car is red']);
    await w.indexer.idle();
    const caller = { agentId: w.agentId, isReadOnly: true };
    const signal = new AbortController().signal;
    const refused = await w.memory.run('query', caller, semantic('car'), signal);
    expect(refused).toMatchObject({ status: 403, body: { error: 'read_only_key' } });
    const words = { query: 'car', mode: 'keyword' };
    expect(await w.memory.run('query', caller, words, signal)).toMatchObject({ status: 200 });
    expect(await w.money()).toEqual({ consumed: COST, held: 0n });
  });

  it('vectors are charged to the key that ingested the memory, and the memory fails when the key is revoked', async () => {
    await using w = await sellingMemory();
    await w.indexer[Symbol.asyncDispose]();
    const [key] = await w.sql<{ id: number }[]>`
      update agent_keys set revoked_at = now() where agent_id = ${w.agentId} returning id`;
    const keyId = key?.id ?? 0;
    const spender = { agentId: w.agentId, keyId, keyRootId: keyId, taskId: 'task-1' };
    const body = { type: 'memory', memories: [{ text: 'her car is red' }] };
    const signal = new AbortController().signal;
    await w.memory.run('ingest', { agentId: w.agentId, spender }, body, signal);
    const other = await w.another();
    await other.indexer.tick();
    await other.indexer.idle();
    expect(await w.items()).toMatchObject([{ status: 'failed', reason: 'key_revoked' }]);
    expect(w.upstream.seen).toHaveLength(0);
  });

  it('a purchase of vectors is retried when the provider is down, at no cost', async () => {
    await using w = await sellingMemory();
    w.upstream.faults.push({ kind: 'status', status: 500 });
    await w.ingest(['her car is red']);
    await w.indexer.idle();
    expect(await w.items()).toMatchObject([{ status: 'queued', costRaw: 0n }]);
    expect((await w.items())[0]?.reason).not.toBeNull();
    expect(await w.money()).toEqual({ consumed: 0n, held: 0n });
    await w.due();
    await w.indexer.tick();
    await w.indexer.idle();
    expect(await w.items()).toMatchObject([{ status: 'completed', costRaw: COST, reason: null }]);
  });
});

describe('a process that dies while it buys', () => {
  it('vectors bought by a process that dies after the charge are used by others, and not bought again', async () => {
    await using w = await sellingMemory();
    await w.indexer[Symbol.asyncDispose]();
    const doomed = await w.another({ onStep: (at) => (at === 'embedded' ? never : undefined) });
    await w.ingest(['her car is red']);
    doomed.indexer.wake();
    await expect.poll(async () => (await w.money())?.consumed).toBe(COST);
    await w.due();
    const other = await w.another({});
    await other.indexer.tick();
    await other.indexer.idle();
    expect(await w.items()).toMatchObject([{ status: 'completed', costRaw: COST }]);
    expect(w.upstream.seen).toHaveLength(1);
    expect(await w.money()).toEqual({ consumed: COST, held: 0n });
  });

  it('vectors bought by a process that dies before the charge are used once the ledger has released its hold', async () => {
    await using w = await sellingMemory();
    await w.indexer[Symbol.asyncDispose]();
    const doomed = await w.another({ through: dyingAfter('kept') });
    await w.ingest(['her car is red']);
    doomed.indexer.wake();
    await expect.poll(() => keptPurchases(w)).toBe(1);
    const other = await w.another({});
    await w.due();
    await other.indexer.tick();
    await other.indexer.idle();
    // It may live, and charge yet.
    expect(await w.items()).toMatchObject([{ status: 'queued', costRaw: 0n, reason: null }]);
    await w.reap(doomed.money.node.nodeId);
    await w.due();
    await other.indexer.tick();
    await other.indexer.idle();
    expect(await w.items()).toMatchObject([{ status: 'completed', costRaw: 0n }]);
    expect(w.upstream.seen).toHaveLength(1);
    expect(await w.money()).toEqual({ consumed: 0n, held: 0n });
  });

  it('vectors whose process dies before storing them are bought again, and the agent pays once', async () => {
    await using w = await sellingMemory();
    await w.indexer[Symbol.asyncDispose]();
    const doomed = await w.another({ through: dyingAfter('answered') });
    await w.ingest(['her car is red']);
    doomed.indexer.wake();
    await expect.poll(() => w.upstream.seen.length).toBe(1);
    await expect.poll(async () => (await w.money())?.held).toBeGreaterThan(0n);
    await w.reap(doomed.money.node.nodeId);
    const other = await w.another({});
    await w.due();
    await other.indexer.tick();
    await other.indexer.idle();
    expect(await w.items()).toMatchObject([{ status: 'completed', costRaw: COST }]);
    expect(await w.money()).toEqual({ consumed: COST, held: 0n });
  });

  it('a slow process is not overtaken: one of two processes buys the vectors, and both record the price', async () => {
    await using w = await sellingMemory();
    w.upstream.faults.push({ kind: 'late', byMs: 400 });
    await w.ingest(['her car is red']);
    await expect.poll(() => w.upstream.seen.length).toBe(1);
    const other = await w.another({});
    await w.due();
    await other.indexer.tick();
    await other.indexer.idle();
    await w.indexer.idle();
    await w.due();
    await other.indexer.tick();
    await other.indexer.idle();
    expect(await w.items()).toMatchObject([{ status: 'completed', costRaw: COST }]);
    expect(w.upstream.seen).toHaveLength(1);
    expect(await w.money()).toEqual({ consumed: COST, held: 0n });
  });
});

describe('a server with another model than before', () => {
  it('a namespace keeps its embedding model when the server’s model changes, and new ones get the new model', async () => {
    await using w = await sellingMemory();
    await w.ingest(['her car is red']);
    await w.indexer.idle();
    const other = await w.another({ usual: OTHER_VECTORS });
    const memories = [{ text: 'his house is blue' }];
    await other.ask(w.agentId, 'ingest', { type: 'memory', memories });
    await other.ask(w.agentId, 'ingest', { type: 'memory', memories, subTenantId: 'new' });
    await other.indexer.idle();
    const spaces = await w.sql`select model from memory_spaces order by id`;
    expect(spaces.map(({ model }) => model)).toEqual([VECTORS, OTHER_VECTORS]);
    const old = await other.ask(w.agentId, 'query', semantic('car'));
    expect(old.body.result.data.chunks).toHaveLength(2);
    expect(old.headers['x-svc-model']).toBe(VECTORS);
  });

  it('a namespace whose model is no longer sold refuses semantic queries with its name, and serves keyword ones', async () => {
    await using w = await sellingMemory();
    await w.ingest(['her car is red']);
    await w.indexer.idle();
    const other = await w.another({ usual: 'test/words', without: [VECTORS] });
    const refused = await other.ask(w.agentId, 'query', semantic('car'));
    expect(refused).toMatchObject({ status: 503, body: { error: 'vendor_unavailable' } });
    expect(refused.body.message).toContain(VECTORS);
    const ingest = { type: 'memory', memories: [{ text: 'his house is blue' }] };
    expect(await other.ask(w.agentId, 'ingest', ingest)).toMatchObject({ status: 503 });
    const words = await other.ask(w.agentId, 'query', { query: 'car', mode: 'keyword' });
    expect(words.body.result.data.chunks).toHaveLength(1);
  });

  it('vectors of another length than the namespace’s are not paid for', async () => {
    await using w = await sellingMemory();
    await w.ingest(['her car is red']);
    await w.indexer.idle();
    await w.sql`update memory_spaces set dims = 7`;
    const refused = await w.ask(w.agentId, 'query', semantic('car'));
    expect(refused).toMatchObject({ status: 503, body: { error: 'vendor_unavailable' } });
    expect(await w.money()).toEqual({ consumed: COST, held: 0n });
    await w.ingest(['his house is blue']);
    await w.indexer.idle();
    expect((await w.items())[1]?.status).toBe('queued');
    expect(await w.chunks()).toEqual(['her car is red']);
  });
});

const keptPurchases = async ({ sql }: Awaited<ReturnType<typeof sellingMemory>>) => {
  const rows = await sql`select 1 from memory_purchases where result is not null`;
  return rows.length;
};

/** A process that never goes on from a moment of its purchase. */
const dyingAfter =
  (moment: 'answered' | 'kept') =>
  (models: Models): Models => ({
    ...models,
    embed: (purchase, keep) =>
      models.embed(purchase, async (vectors) => {
        if (moment === 'kept') await keep(vectors);
        await never;
      }),
  });
