import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listItems } from '../../../src/memory/item-store.ts';
import type { Queryable } from '../../../src/platform/postgres/sql.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { explained } from '../../support/explained.ts';
import { memoryWorld } from '../../support/memory-world.ts';

let shared: TestDatabase;
beforeAll(async () => {
  shared = await testDatabase(8);
});
afterAll(() => shared[Symbol.asyncDispose]());

describe('what an agent has', () => {
  it('an agent’s memories are counted by type, per namespace and in total, through ingests and deletions', async () => {
    await using w = await memoryWorld({ shared });
    const totals = async (subTenantId?: string) => {
      const of = async (type?: string) =>
        (await w.ask(w.agentId, 'list', { subTenantId, type })).body.result.data.total;
      return [await of(), await of('memory'), await of('knowledge')];
    };
    const status = async () => {
      const { body } = await w.ask(w.agentId, 'tenant/status', {});
      return [body.result.data.memories, body.result.data.knowledge];
    };
    const ids = await w.remember(['a', 'b', 'c']);
    const appKnowledge = ['x', 'y'];
    const documents = await w.ask(w.agentId, 'ingest', { type: 'knowledge', appKnowledge });
    const [document] = documents.body.result.data.results;
    await w.remember(['d'], { subTenantId: 'other' });
    expect(await totals()).toEqual([5, 3, 2]);
    expect(await totals('other')).toEqual([1, 1, 0]);
    expect(await status()).toEqual([4, 2]);
    await w.ask(w.agentId, 'delete', { ids: [ids[0], document.id], type: 'knowledge' });
    expect(await totals()).toEqual([4, 3, 1]);
    // Also of what has no chunk yet.
    await w.indexer.idle();
    await w.indexer[Symbol.asyncDispose]();
    const more = await w.ask(w.agentId, 'ingest', { type: 'memory', memories: [{ text: 'e' }] });
    const [waiting] = more.body.result.data.results;
    await w.ask(w.agentId, 'delete', { ids: [ids[0], ids[0], waiting.id, document.id] });
    expect(await totals()).toEqual([3, 2, 1]);
    expect(await totals('other')).toEqual([1, 1, 0]);
    expect(await status()).toEqual([3, 1]);
  });

  it('an agent’s memory counts are read without reading any item', async () => {
    await using w = await memoryWorld({ shared });
    await w.remember(['a']);
    await w.sql.begin(async (tx) => {
      await tx`lock table memory_items in access exclusive mode`;
      const { body } = await w.ask(w.agentId, 'tenant/status', {});
      expect(body.result.data).toEqual({ status: 'ready', memories: 1, knowledge: 0 });
    });
  });

  it('a late page of an agent’s memories is listed without reading the texts before it', async () => {
    await using w = await memoryWorld({ shared });
    await w.indexer[Symbol.asyncDispose]();
    const text = () => randomBytes(10_000).toString('hex');
    const memories = Array.from({ length: 100 }, () => ({ text: text() }));
    await w.ask(w.agentId, 'ingest', { type: 'memory', memories });
    const [space] = await w.sql<{ id: number }[]>`
      select id from memory_spaces where agent_id = ${w.agentId}`;
    const page = (offset: number) => (sql: Queryable) =>
      listItems(sql, space?.id ?? 0, { type: null, limit: 1, offset, textChars: 100 });
    const blocks = async (offset: number) => {
      const plan = await explained(w.sql, page(offset));
      return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    };
    await blocks(0);
    // A text alone has ten blocks.
    expect((await blocks(99)) - (await blocks(0))).toBeLessThan(50);
  });
});
