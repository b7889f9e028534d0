import { describe, expect, it } from 'vitest';
import { forgetRemovals } from '../../../src/memory/indexing/indexing-store.ts';
import { MEMORY_LIMITS } from '../../../src/memory/limits.ts';
import { createMemoryWorkers } from '../../../src/memory/memory-workers.ts';
import { forgetAtClose } from '../../../src/memory/tenants.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import { embedWords, memoryWorld } from '../../support/memory-world.ts';

const SECRET = 'zanzibar';

/** Every row of every table whose text has this in it, by table. */
async function rowsWith(sql: Sql, text: string): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r'`;
  const found: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from ${sql(name)} t where t::text like ${`%${text}%`}`;
    if (row !== undefined && row.n > 0) found[name] = row.n;
  }
  return found;
}

const hexOf = (vector: Float32Array) => Buffer.from(vector.buffer).toString('hex');

async function told() {
  const w = await memoryWorld();
  const secret = `the word is ${SECRET}`;
  const [kept] = await w.remember(['tea is hot']);
  const memories = [{ text: secret, metadata: { where: SECRET } }];
  const [id = ''] = await w.remember([], { memories });
  const query = { query: secret, mode: 'semantic' };
  const idsFound = async (ask = w.ask) =>
    (await ask(w.agentId, 'query', query)).body.result.data.chunks.map((c: { id: string }) => c.id);
  expect(await idsFound()).toEqual([id, kept]);
  const traces = async () => [
    await rowsWith(w.sql, SECRET),
    await rowsWith(w.sql, hexOf(embedWords(secret))),
  ];
  expect(await traces()).toEqual([{ memory_items: 1, memory_chunks: 1 }, { memory_chunks: 1 }]);
  return {
    ...w,
    w,
    id,
    kept,
    query,
    idsFound,
    traces,
    [Symbol.asyncDispose]: () => w[Symbol.asyncDispose](),
  };
}

const SECRET_VECTOR = Buffer.from(embedWords(`the word is ${SECRET}`).buffer);
/** Whether the vector of the secret is anywhere in what a process holds of vectors. */
const holds = ({ indexMemory }: { indexMemory(): Buffer }): boolean =>
  indexMemory().includes(SECRET_VECTOR);

const spaceOf = async (sql: Sql): Promise<number> =>
  (await sql<{ id: number }[]>`select id from memory_spaces`)[0]?.id ?? 0;

describe('a memory that is deleted', () => {
  it('a deleted memory leaves no byte in any row, in the word index, or in loaded vectors', async () => {
    await using w = await told();
    expect(holds(w)).toBe(true);
    const deleted = await w.ask(w.agentId, 'delete', { ids: [w.id, 'mem_none', w.id] });
    expect(deleted.body.result.data).toEqual({ deleted: [w.id], not_found: ['mem_none'] });
    // Before any further query.
    expect(holds(w)).toBe(false);
    expect(await w.traces()).toEqual([{}, {}]);
    expect(await w.idsFound()).toEqual([w.kept]);
    const words = await w.ask(w.agentId, 'query', { query: SECRET, mode: 'keyword' });
    expect(words.body.result.data.chunks).toEqual([]);
    const statuses = await w.ask(w.agentId, 'status', { ids: [w.id] });
    expect(statuses.body.result.data.statuses).toEqual([{ id: w.id, status: 'not_found' }]);
    const [tenant] = await w.sql`select items from memory_tenants where agent_id = ${w.agentId}`;
    expect(tenant).toEqual({ items: 1 });
  });

  it('a deleted memory leaves other processes within a second, and their next query does not find it', async () => {
    await using w = await told();
    const spaceId = await spaceOf(w.sql);
    const [searching, idle] = [w.another(), w.another()];
    for (const { ask } of [searching, idle]) expect(await w.idsFound(ask)).toHaveLength(2);
    await w.ask(w.agentId, 'delete', { ids: [w.id] });
    expect(await w.idsFound(searching.ask)).toEqual([w.kept]);
    expect(holds(searching)).toBe(false);
    expect(holds(idle)).toBe(true);
    const workers = createMemoryWorkers({ ...idle, sql: w.sql });
    const follower = workers.find(({ name }) => name === 'follow-deleted-memories');
    expect(follower?.everyMs).toBeLessThanOrEqual(1_000);
    await follower?.tick();
    expect(holds(idle)).toBe(false);
    expect(idle.index.versionOf(spaceId)).toBeDefined();
  });

  it('a deleted memory also leaves a process that was away longer than deletions are remembered', async () => {
    await using w = await told();
    const away = w.another();
    expect(await w.idsFound(away.ask)).toHaveLength(2);
    await w.ask(w.agentId, 'delete', { ids: [w.id] });
    await w.sql`update memory_removals set at = now() - ${MEMORY_LIMITS.sweep.removalsKeptMs + 1_000} * interval '1 millisecond'`;
    await forgetRemovals(w.sql);
    expect(await w.sql`select 1 from memory_removals`).toHaveLength(0);
    await away.loader.followAll();
    expect(holds(away)).toBe(false);
    expect(await w.idsFound(away.ask)).toEqual([w.kept]);
  });

  it('a memory deleted while it is being indexed is gone, whichever comes first', async () => {
    for (const step of ['claimed', 'embedded', 'completed'] as const) {
      let ids: string[] = [];
      let isDone = false;
      await using w = await memoryWorld({
        async onStep(at) {
          if (at !== step || isDone) return;
          isDone = true;
          await w.ask(w.agentId, 'delete', { ids });
        },
      });
      const memories = [{ text: SECRET }, { text: 'another' }];
      const ingest = w.ask(w.agentId, 'ingest', { type: 'memory', memories });
      ids = (await ingest).body.result.data.results.slice(0, 1).map(({ id }: { id: string }) => id);
      await w.indexer.idle();
      expect(isDone).toBe(true);
      expect(await rowsWith(w.sql, SECRET), step).toEqual({});
      const list = await w.ask(w.agentId, 'list', {});
      expect(list.body.result.data.items).toMatchObject([{ text: 'another', status: 'completed' }]);
    }
  });
});

describe('a store that is deleted', () => {
  it('deleting a memory store needs confirm: true, and leaves no row and nothing loaded in any process', async () => {
    await using w = await told();
    const other = w.another();
    expect(await w.idsFound(other.ask)).toHaveLength(2);
    for (const body of [{}, { confirm: false }, { confirm: 'true' }, { confirm: 1 }]) {
      const refused = await w.ask(w.agentId, 'tenant/delete', body);
      expect(refused).toMatchObject({ status: 400, body: { error: 'Invalid request' } });
    }
    expect(await w.idsFound()).toHaveLength(2);
    const deleted = await w.ask(w.agentId, 'tenant/delete', { confirm: true });
    expect(deleted.body.result).toEqual({ success: true, data: { status: 'deleted' } });
    expect(w.indexMemory().equals(Buffer.alloc(w.indexMemory().length))).toBe(true);
    expect(await w.traces()).toEqual([{}, {}]);
    for (const table of ['tenants', 'spaces', 'items', 'chunks', 'removals']) {
      expect(await w.sql`select 1 from ${w.sql(`memory_${table}`)}`, table).toHaveLength(0);
    }
    await other.loader.followAll();
    expect(other.index.bytes).toBe(0);
    const ofNothing = {
      query: { chunks: [] },
      list: { items: [], total: 0, limit: 20, offset: 0 },
      status: { statuses: [{ id: 'mem_x', status: 'not_found' }] },
      delete: { deleted: [], not_found: ['mem_x'] },
    };
    for (const [op, data] of Object.entries(ofNothing)) {
      const gone = await w.ask(w.agentId, op as 'query', { query: 'x', ids: ['mem_x'] });
      expect([gone.status, gone.body.result?.data], op).toEqual([200, data]);
    }
    expect(await w.ask(w.agentId, 'tenant/delete', { confirm: true })).toMatchObject({
      status: 404,
      body: { error: 'tenant_not_found' },
    });
    const status = await w.ask(w.agentId, 'tenant/status', {});
    expect(status.body.result.data).toMatchObject({ status: 'absent' });
    // And may be made again, empty.
    await w.remember(['new']);
    expect(await w.idsFound()).toHaveLength(1);
  });

  it('closing an agent hides its memory store in the same commit, and a worker deletes the rows', async () => {
    await using w = await told();
    await w.sql.begin(async (tx) => {
      await tx`update agents set status = 'closed' where id = ${w.agentId}`;
      await forgetAtClose(tx, w.agentId);
    });
    expect((await w.ask(w.agentId, 'query', w.query)).body.result.data).toEqual({ chunks: [] });
    const memories = [{ text: 'late' }];
    const late = await w.ask(w.agentId, 'ingest', { type: 'memory', memories });
    expect(late.status).toBe(404);
    const workers = createMemoryWorkers({ ...w.w, sql: w.sql });
    for (const { tick } of workers) await tick();
    expect(await w.traces()).toEqual([{}, {}]);
    expect(w.index.bytes).toBe(0);
  });
});
