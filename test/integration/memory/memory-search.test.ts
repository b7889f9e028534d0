import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineBusy, EngineCrashed } from '../../../src/engines/engine.ts';
import { SpaceNotLoaded } from '../../../src/memory/index/loaded-spaces.ts';
import { spacesBounds } from '../../../src/memory/index/spaces.ts';
import { MEMORY_LIMITS } from '../../../src/memory/limits.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  type Asked,
  indexInThisThread,
  memoryWorld,
  wordEmbedder,
} from '../../support/memory-world.ts';

let shared: TestDatabase;
beforeAll(async () => {
  shared = await testDatabase(8);
});
afterAll(() => shared[Symbol.asyncDispose]());

const found = (answer: Asked): string[] => {
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.result.data.chunks.map((chunk: { chunk_content: string }) =>
    String(chunk.chunk_content.split('\n')[0]),
  );
};

describe('a query', () => {
  it('a keyword query finds memories that have all of its words first, then those that have any', async () => {
    await using w = await memoryWorld({ shared });
    await w.remember([
      'The user plays tennis on Mondays.',
      'The user plays the violin.',
      'Lunch is at noon.',
    ]);
    const keyword = { mode: 'keyword' };
    expect(found(await w.ask(w.agentId, 'query', { ...keyword, query: 'playing tennis' }))).toEqual(
      ['The user plays tennis on Mondays.', 'The user plays the violin.'],
    );
    expect(found(await w.ask(w.agentId, 'query', { ...keyword, query: 'plays -violin' }))).toEqual([
      'The user plays tennis on Mondays.',
    ]);
    expect(found(await w.ask(w.agentId, 'query', { ...keyword, query: 'submarine' }))).toEqual([]);
    expect(found(await w.ask(w.agentId, 'query', { ...keyword, query: 'the' }))).toEqual([]);
  });

  it('a memory query is not crowded out by other agents’ or namespaces’ memories, however many and new', async () => {
    await using w = await memoryWorld({ shared });
    await w.remember(['my tea']);
    for (let n = 0; n <= MEMORY_LIMITS.query.candidates; n += 100) {
      await w.remember(
        Array.from({ length: 100 }, () => 'tea tea'),
        {},
        w.otherId,
      );
      await w.remember(
        Array.from({ length: 100 }, () => 'tea tea'),
        { subTenantId: 'other' },
      );
    }
    for (const mode of ['keyword', 'semantic', 'hybrid']) {
      const answer = await w.ask(w.agentId, 'query', { query: 'tea', mode });
      expect(found(answer), mode).toEqual(['my tea']);
    }
  });

  it('a semantic query finds a memory that has none of its words', async () => {
    await using w = await memoryWorld({ shared });
    await w.remember(['her automobile is red', 'his house is blue', 'their garden is green']);
    const query = { query: 'car', maxResults: 1 };
    const semantic = await w.ask(w.agentId, 'query', { ...query, mode: 'semantic' });
    expect(found(semantic)).toEqual(['her automobile is red']);
    expect(found(await w.ask(w.agentId, 'query', { ...query, mode: 'keyword' }))).toEqual([]);
  });

  it('a memory query joins keyword and semantic results by default, with those of both first', async () => {
    await using w = await memoryWorld({ shared });
    await w.remember([
      'their garden has roses',
      'repair the fence',
      'her automobile needs repair',
      'a long unrelated note about the weather in spring',
    ]);
    const answer = await w.ask(w.agentId, 'query', { query: 'car repair' });
    expect(found(answer)[0]).toBe('her automobile needs repair');
    const scores = answer.body.result.data.chunks.map(({ score }: { score: number }) => score);
    expect(scores).toEqual([...scores].sort((a: number, b: number) => b - a));
    expect(scores.every((score: number) => score > 0 && score <= 1)).toBe(true);
  });

  it('a memory query returns records with the documented members', async () => {
    await using w = await memoryWorld({ shared });
    const memories = [{ text: 'Ada likes tea', metadata: { mood: 'calm', cups: 2 } }];
    const [id] = await w.remember([], { memories, subTenantId: 'user:1' });
    const query = { query: 'tea', subTenantId: 'user:1' };
    const { body } = await w.ask(w.agentId, 'query', query);
    expect(body).toEqual({
      result: {
        success: true,
        data: {
          chunks: [
            {
              id,
              chunk_content: 'Ada likes tea',
              score: expect.any(Number),
              type: 'memory',
              sub_tenant_id: 'user:1',
              created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
              metadata: { mood: 'calm', cups: 2 },
            },
          ],
        },
      },
    });
  });

  it('a memory query searches only the type that it names', async () => {
    await using w = await memoryWorld({ shared });
    await w.remember(['tea is for Ada']);
    const appKnowledge = [{ title: 'Menu', text: 'We sell tea.\n\nWe sell coffee.' }];
    await w.ask(w.agentId, 'ingest', { type: 'knowledge', appKnowledge });
    await w.indexer.idle();
    for (const mode of ['keyword', 'semantic', 'hybrid']) {
      const ask = (type?: string) =>
        w.ask(w.agentId, 'query', { query: 'tea', mode, maxResults: 1, type });
      expect(found(await ask('memory')), mode).toEqual(['tea is for Ada']);
      expect(found(await ask('knowledge')), mode).toEqual(['We sell tea.']);
    }
    const both = await w.ask(w.agentId, 'query', { query: 'tea', mode: 'keyword' });
    expect(found(both).sort()).toEqual(['We sell tea.', 'tea is for Ada']);
    const byTitle = await w.ask(w.agentId, 'query', { query: 'menu', mode: 'keyword' });
    expect(byTitle.body.result.data.chunks[0]).toMatchObject({
      chunk_content: expect.stringMatching(/\nMenu$/),
      title: 'Menu',
    });
  });

  it('a memory query filters by metadata, and searches its declared fields', async () => {
    await using w = await memoryWorld({ shared });
    const tenantMetadataSchema = { role: 'string', age: 'number' };
    await w.ask(w.agentId, 'tenant/create', { tenantMetadataSchema });
    const memories = [
      { text: 'Ada writes code', metadata: { role: 'lead engineer', age: 36 } },
      { text: 'Bob writes code', metadata: { role: 'engineer', age: 40 } },
      { text: 'Cyd writes songs', metadata: { role: 'lead singer' } },
    ];
    await w.remember([], { memories });
    for (const mode of ['keyword', 'semantic', 'hybrid']) {
      const ask = (more: object) => w.ask(w.agentId, 'query', { query: 'writes', mode, ...more });
      expect(found(await ask({ filter: { age: 40 } })), mode).toEqual(['Bob writes code']);
      expect(found(await ask({ filter: { age: 36, role: 'x' } })), mode).toEqual([]);
      const byRole = await w.ask(w.agentId, 'query', {
        query: 'lead engineer',
        queryBy: 'role',
        mode,
      });
      expect(found(byRole)[0], mode).toBe('Ada writes code');
      expect(found(byRole), mode).toHaveLength(3);
    }
    const unknown = await w.ask(w.agentId, 'query', { query: 'x', queryBy: ['text', 'team'] });
    expect(unknown).toMatchObject({ status: 400, body: { details: [{ path: ['queryBy'] }] } });
    const wrong = [{ text: 'x', metadata: { age: 'old' } }];
    const refused = await w.ask(w.agentId, 'ingest', { type: 'memory', memories: wrong });
    expect(refused.body.details).toMatchObject([{ path: ['memories', 0, 'metadata', 'age'] }]);
  });

  it('a memory query returns only the matching fact of a text that was ingested with infer', async () => {
    await using w = await memoryWorld({ shared });
    const text = 'Hello! My cat is called Tom. I moved to Lisbon in May. Thanks!';
    const [id] = await w.remember([], { memories: [{ text, infer: true }] });
    const query = { query: 'Lisbon', mode: 'keyword' };
    const { body } = await w.ask(w.agentId, 'query', query);
    expect(body.result.data.chunks).toMatchObject([
      { id, chunk_content: 'I moved to Lisbon in May.' },
    ]);
  });

  it('a memory query right after its ingest finds nothing or the memory, and soon the memory', async () => {
    await using w = await memoryWorld({ shared });
    for (let n = 0; n < 20; n++) {
      const subTenantId = `s${n}`;
      const memories = [{ text: `fact number ${n}` }];
      await w.ask(w.agentId, 'ingest', { type: 'memory', memories, subTenantId });
      const query = () => w.ask(w.agentId, 'query', { query: 'fact', subTenantId });
      expect([[], [`fact number ${n}`]]).toContainEqual(found(await query()));
      await expect.poll(async () => found(await query())).toEqual([`fact number ${n}`]);
    }
  });

  it('a memory query in one process finds what another process has ingested', async () => {
    await using w = await memoryWorld({ shared });
    const other = w.another();
    const query = { query: 'tea', mode: 'semantic' };
    await w.remember(['tea one']);
    expect(found(await other.ask(w.agentId, 'query', query))).toHaveLength(1);
    await w.remember(['tea two', 'tea three']);
    const asked = Array.from({ length: 8 }, () => other.ask(w.agentId, 'query', query));
    for (const answer of await Promise.all(asked)) expect(found(answer)).toHaveLength(3);
  });

  it('a memory query reloads its namespace when it was unloaded, or when the index thread was lost', async () => {
    await using w = await memoryWorld({ shared });
    await w.remember(['tea']);
    for (const loss of [new SpaceNotLoaded('gone'), new EngineCrashed('lost')]) {
      const { index } = indexInThisThread();
      let losses = 0;
      const { ask } = w.another({
        index: {
          ...index,
          async search(...asked) {
            if (losses++ > 1) return index.search(...asked);
            await index.drop(asked[0]);
            throw loss;
          },
        },
      });
      expect(found(await ask(w.agentId, 'query', { query: 'tea', mode: 'semantic' }))).toEqual([
        'tea',
      ]);
      expect(losses).toBe(3);
      losses = -10;
      const refused = await ask(w.agentId, 'query', { query: 'tea', mode: 'semantic' });
      expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    }
  });

  it('a query of a namespace that does not fit into memory is refused, without loading it repeatedly', async () => {
    const clock = new ManualClock();
    await using w = await memoryWorld({ shared });
    await w.remember(['tea']);
    const { index } = indexInThisThread(spacesBounds(0));
    let loads = 0;
    const { ask } = w.another({
      clock,
      index: {
        ...index,
        // The estimate lets it pass: the memory itself refuses it.
        mostRows: () => 1_000,
        load(...given) {
          loads++;
          return index.load(...given);
        },
      },
    });
    const query = (mode: string) => ask(w.agentId, 'query', { query: 'tea', mode });
    for (let n = 0; n < 3; n++) {
      const refused = { status: 503, headers: { 'x-should-retry': 'false' } };
      expect(await query('semantic')).toMatchObject(refused);
    }
    expect(loads).toBe(1);
    expect(found(await query('keyword'))).toEqual(['tea']);
    clock.advance(MEMORY_LIMITS.sweep.tooLargeMs);
    await query('semantic');
    expect(loads).toBe(2);
  });

  it('a semantic query is refused when its engine is missing or busy, and a keyword query is served', async () => {
    await using w = await memoryWorld({ shared });
    await w.remember(['tea']);
    const missing = w.another({ embedder: { ...wordEmbedder, missing: () => 'pruned' } });
    const busy = w.another({
      embedder: { ...wordEmbedder, embed: () => Promise.reject(new EngineBusy(1)) },
    });
    for (const [{ ask }, headers] of [
      [missing, { 'x-should-retry': 'false' }],
      [busy, { 'x-should-retry': 'true', 'retry-after': '1' }],
    ] as const) {
      const refused = { status: 503, body: { error: 'vendor_unavailable' }, headers };
      expect(await ask(w.agentId, 'query', { query: 'tea' })).toMatchObject(refused);
      expect(found(await ask(w.agentId, 'query', { query: 'tea', mode: 'keyword' }))).toEqual([
        'tea',
      ]);
    }
    const memories = [{ text: 'more' }];
    const ingested = await missing.ask(w.agentId, 'ingest', { type: 'memory', memories });
    expect(ingested.status).toBe(503);
  });
});
