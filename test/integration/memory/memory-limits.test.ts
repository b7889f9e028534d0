import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MEMORY_LIMITS } from '../../../src/memory/limits.ts';
import type { MemoryOp } from '../../../src/memory/memory.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { memoryWorld } from '../../support/memory-world.ts';

let shared: TestDatabase;
beforeAll(async () => {
  shared = await testDatabase(8);
});
afterAll(() => shared[Symbol.asyncDispose]());

const many = <T>(count: number, of: T): T[] => Array.from({ length: count }, () => of);
const text = (bytes: number) => 'é'.repeat(bytes / 2);
const memories = (...all: unknown[]) => ({ type: 'memory', memories: all });
const knowledge = (appKnowledge: unknown) => ({ type: 'knowledge', appKnowledge });

/** Each limit: what is the most that it lets pass, and the least that it refuses, with the place of the refusal. */
const ROWS: readonly [string, MemoryOp, object, object, readonly unknown[]][] = [
  ['a query has 8 KB', 'query', { query: text(8_192) }, { query: text(8_194) }, ['query']],
  [
    'a memory has 32 KB',
    'ingest',
    memories({ text: text(32_768) }),
    memories({ text: text(32_770) }),
    ['memories', 0, 'text'],
  ],
  [
    'a document has 128 KB',
    'ingest',
    knowledge([{ text: text(131_072) }]),
    knowledge([{ content: text(131_074) }]),
    ['appKnowledge', 0, 'content'],
  ],
  [
    'an ingest has 100 items',
    'ingest',
    memories(...many(100, { text: 'a' })),
    memories(...many(101, { text: 'a' })),
    ['memories'],
  ],
  [
    'an ingest has 100 documents',
    'ingest',
    knowledge(many(100, 'a')),
    knowledge(many(101, 'a')),
    ['appKnowledge'],
  ],
  ['a status has 100 ids', 'status', { ids: many(100, 'a') }, { ids: many(101, 'a') }, ['ids']],
  ['a deletion has 100 ids', 'delete', { ids: many(100, 'a') }, { ids: many(101, 'a') }, ['ids']],
  [
    'a query finds 50',
    'query',
    { query: 'a', maxResults: 50 },
    { query: 'a', maxResults: 51 },
    ['maxResults'],
  ],
  [
    'a query finds one',
    'query',
    { query: 'a', maxResults: 1 },
    { query: 'a', maxResults: 0 },
    ['maxResults'],
  ],
  ['a list has 100 items', 'list', { limit: 100 }, { limit: 101 }, ['limit']],
  ['a list has one item', 'list', { limit: 1 }, { limit: 0 }, ['limit']],
  ['a list begins somewhere', 'list', { offset: 100_000 }, { offset: 100_001 }, ['offset']],
  [
    'a namespace has a name of 64 characters',
    'list',
    { subTenantId: `A-z_0.9:${'x'.repeat(56)}` },
    { subTenantId: 'x'.repeat(65) },
    ['subTenantId'],
  ],
  ['a name has no others', 'list', { subTenantId: 'a' }, { subTenantId: 'a b' }, ['subTenantId']],
  [
    'metadata has 32 fields',
    'ingest',
    memories({ text: 'a', metadata: fields(32) }),
    memories({ text: 'a', metadata: fields(33) }),
    ['memories', 0, 'metadata'],
  ],
];

function fields(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, n]));
}

describe('the limits of the memory store', () => {
  it('the memory store accepts each field at its limit, and refuses one more with the path of the field', async () => {
    await using w = await memoryWorld({ shared });
    await w.ask(w.agentId, 'tenant/create', {});
    for (const [name, op, most, more, path] of ROWS) {
      const passed = await w.ask(w.agentId, op, most);
      expect(passed.status, `${name}: ${JSON.stringify(passed.body).slice(0, 300)}`).toBe(200);
      const refused = await w.ask(w.agentId, op, more);
      expect(refused, name).toMatchObject({ status: 400, body: { error: 'Invalid request' } });
      expect(refused.body.details?.[0]?.path, name).toEqual(path);
    }
  });

  it('the memory store returns 10 results and pages of 20 by default', async () => {
    await using w = await memoryWorld({ shared });
    await w.remember(Array.from({ length: 25 }, (_, n) => `tea ${n}`));
    for (const mode of ['keyword', 'semantic', 'hybrid']) {
      const { body } = await w.ask(w.agentId, 'query', { query: 'tea', mode });
      expect(body.result.data.chunks, mode).toHaveLength(10);
      const more = await w.ask(w.agentId, 'query', { query: 'tea', mode, maxResults: 25 });
      expect(more.body.result.data.chunks, mode).toHaveLength(25);
    }
    const { body } = await w.ask(w.agentId, 'list', {});
    expect(body.result.data).toMatchObject({ total: 25, limit: 20, offset: 0 });
    expect(body.result.data.items).toHaveLength(20);
    expect(body.result.data.items[0]).toMatchObject({ text: 'tea 24', status: 'completed' });
    const rest = await w.ask(w.agentId, 'list', { offset: 20 });
    expect(rest.body.result.data.items.map(({ text: t }: { text: string }) => t)).toEqual([
      'tea 4',
      'tea 3',
      'tea 2',
      'tea 1',
      'tea 0',
    ]);
  });

  it('the memory store limits the items and the namespaces of an agent, and a deletion frees its share', async () => {
    await using w = await memoryWorld({ shared });
    const [id] = await w.remember(['one']);
    await w.sql`update memory_tenants set items = ${MEMORY_LIMITS.agent.items}
      where agent_id = ${w.agentId}`;
    const ingest = () => w.ask(w.agentId, 'ingest', memories({ text: 'two' }));
    const full = { status: 409, body: { error: 'memory_full', limit: MEMORY_LIMITS.agent.items } };
    expect(await ingest()).toMatchObject(full);
    await w.ask(w.agentId, 'delete', { ids: [id] });
    expect((await ingest()).status).toBe(200);
    await w.sql`update memory_tenants set spaces = ${MEMORY_LIMITS.agent.spaces}
      where agent_id = ${w.agentId}`;
    const create = await w.ask(w.agentId, 'tenant/create', { subTenantId: 'new' });
    expect(create).toMatchObject({ status: 409, body: { limit: MEMORY_LIMITS.agent.spaces } });
    const known = await w.ask(w.agentId, 'tenant/create', {});
    expect(known.status).toBe(200);
  });

  it('the memory store limits the bytes of an agent’s texts, titles and metadata, and a deletion frees its share', async () => {
    await using w = await memoryWorld({ shared });
    const bytes = async () => {
      const [row] = await w.sql<{ bytes: number }[]>`select bytes::float8 as bytes
        from memory_tenants where agent_id = ${w.agentId}`;
      return row?.bytes;
    };
    const ingest = (body: object) => w.ask(w.agentId, 'ingest', body);
    const { body } = await ingest(memories({ text: 'é', metadata: { a: 'ü' } }));
    const [{ id }] = body.result.data.results;
    expect(await bytes()).toBe(2 + '{"a":"__"}'.length);
    await ingest(knowledge([{ text: 'tea', title: 'hot', id: 'T1' }]));
    expect(await bytes()).toBe(12 + 3 + 3 + 2 + '{}'.length);
    await w.ask(w.agentId, 'delete', { ids: [id] });
    expect(await bytes()).toBe(10);
    await w.sql`update memory_tenants set bytes = ${MEMORY_LIMITS.agent.bytes - 12}
      where agent_id = ${w.agentId}`;
    const full = { status: 409, body: { error: 'memory_full', limit: MEMORY_LIMITS.agent.bytes } };
    expect(await ingest(memories({ text: 'x'.repeat(11) }))).toMatchObject(full);
    expect((await ingest(memories({ text: 'x'.repeat(10) }))).status).toBe(200);
    expect(await bytes()).toBe(MEMORY_LIMITS.agent.bytes);
  });

  it('the memory store refuses invalid JSON, and a body that does not fit the operation', async () => {
    await using w = await memoryWorld({ shared });
    await w.ask(w.agentId, 'tenant/create', {});
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
    for (const body of ['{', 'x', '{"a":}', deep, Uint8Array.of(0x22, 0xff, 0x22)]) {
      const refused = await w.ask(w.agentId, 'query', body);
      expect(refused).toMatchObject({ status: 400, body: { error: 'Invalid JSON body' } });
    }
    const long = await w.ask(w.agentId, 'query', `"${'x'.repeat(MEMORY_LIMITS.body.bytes)}"`);
    expect(long).toMatchObject({ status: 413, body: { error: 'payload_too_large' } });
    expect((await w.ask(w.agentId, 'tenant/status', '')).status).toBe(200);
    expect((await w.ask(w.agentId, 'query', '{"query":"tea"}')).status).toBe(200);
    const wrong: [MemoryOp, unknown][] = [
      ['query', []],
      ['query', 7],
      ['query', {}],
      ['query', { query: ' ' }],
      ['query', { query: 'a\0' }],
      ['query', { query: 'a', mode: 'psychic' }],
      ['query', { query: 'a', type: 'dream' }],
      ['query', { query: 'a', filter: { a: [] } }],
      ['ingest', { type: 'memory' }],
      ['ingest', { type: 'knowledge' }],
      ['ingest', { memories: [{ text: 'a' }] }],
      ['ingest', { ...memories({ text: 'a' }), type: 'knowledge' }],
      ['ingest', { ...knowledge('a'), type: 'memory' }],
      ['ingest', memories()],
      ['ingest', memories({ text: '\ud800' })],
      ['ingest', memories({ text: 'a', metadata: { a: { b: 1 } } })],
      ['ingest', memories({ text: 'a', metadata: { 'a\0': 1 } })],
      ['ingest', knowledge([{ title: 'no text' }])],
      ['ingest', knowledge(7)],
      ['status', { ids: [] }],
      ['status', { ids: 'mem_x' }],
      ['delete', { ids: [7] }],
      ['tenant/create', { tenantMetadataSchema: { a: 'date' } }],
      ['tenant/create', { tenantMetadataSchema: ['a'] }],
    ];
    for (const [op, body] of wrong) {
      const refused = await w.ask(w.agentId, op, body);
      expect(refused, JSON.stringify(body)).toMatchObject({
        status: 400,
        body: { error: 'Invalid request' },
      });
      expect(refused.body.details?.length, JSON.stringify(body)).toBeGreaterThan(0);
    }
    const { body } = await w.ask(w.agentId, 'list', {});
    expect(body.result.data.total).toBe(0);
  });

  it('the memory store keeps declared metadata types, and accepts the same declaration again', async () => {
    await using w = await memoryWorld({ shared });
    const create = (tenantMetadataSchema: object, more: object = {}) =>
      w.ask(w.agentId, 'tenant/create', { tenantMetadataSchema, ...more });
    const accepted = { result: { success: true, data: { status: 'accepted' } } };
    expect((await create({ role: 'string' })).body).toEqual(accepted);
    expect((await create({ role: 'string' })).body).toEqual(accepted);
    expect((await create({ age: 'number' })).body).toEqual(accepted);
    expect((await w.ask(w.agentId, 'tenant/create', {})).body).toEqual(accepted);
    const changed = await create({ role: 'number' });
    expect(changed.body.details).toMatchObject([{ path: ['tenantMetadataSchema', 'role'] }]);
    // A namespace that declares nothing has the fields of the default one.
    const query = { query: 'x', queryBy: ['role', 'age'], subTenantId: 'new' };
    expect((await w.ask(w.agentId, 'query', query)).status).toBe(200);
    await w.remember(['x'], { subTenantId: 'new' });
    expect((await w.ask(w.agentId, 'query', query)).status).toBe(200);
    const status = await w.ask(w.agentId, 'tenant/status', {});
    expect(status.body.result.data).toEqual({ status: 'ready', memories: 1, knowledge: 0 });
  });
});
