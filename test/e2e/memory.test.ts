import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, newDeveloper, startWorld, type WholeWorld } from '../support/whole-world.ts';

let w: WholeWorld;
beforeAll(async () => {
  w = await startWorld();
});
afterAll(() => w[Symbol.asyncDispose]());

const headersOf = (agentKey: string) => ({ authorization: `Bearer ${agentKey}` });
const call = (agentKey: string, op: string, body: unknown) =>
  ask(`${w.url}/v1/db/vectordb/${op}`, { headers: headersOf(agentKey), body });
type Chunks = { result: { data: { chunks: { chunk_content: string }[] } } };
const found = (body: unknown) =>
  (body as Chunks).result.data.chunks.map(({ chunk_content: content }) => content);

describe('the memory of an agent', () => {
  it('the memory of an agent is written and found over HTTP, by meaning too, at no cost', async () => {
    const { agentKey } = await w.fund('rememberer');
    const absent = await call(agentKey, 'tenant/status', {});
    expect(absent.body).toMatchObject({ result: { data: { status: 'absent' } } });
    const created = await call(agentKey, 'tenant/create', {
      tenantMetadataSchema: { role: 'string' },
    });
    expect(created.body).toEqual({ result: { success: true, data: { status: 'accepted' } } });
    const texts = [
      'My daughter is afraid of dogs.',
      'The quarterly report is due on Friday.',
      'I prefer window seats when I fly.',
    ];
    const memories = texts.map((text) => ({ text }));
    const ingested = await call(agentKey, 'ingest', { type: 'memory', memories });
    expect(ingested.body).toMatchObject({
      result: { data: { results: [{ status: 'queued' }, {}, {}] } },
    });
    const query = {
      query: 'Which place on the airplane do I like?',
      mode: 'semantic',
      maxResults: 1,
    };
    const look = async () => {
      const answer = await call(agentKey, 'query', query);
      expect(answer.status).toBe(200);
      return found(answer.body);
    };
    await expect.poll(look, { timeout: 20_000 }).toEqual([texts[2]]);
    const hybrid = await call(agentKey, 'query', { query: 'quarterly report', maxResults: 1 });
    expect(found(hybrid.body)).toEqual([texts[1]]);
    const balance = await ask(`${w.url}/v1/agents/balance`, { headers: headersOf(agentKey) });
    expect(balance.body).toMatchObject({ balance: '1000000', spendableRaw: '1000000' });
  });

  it('the memory of an agent needs an agent key, and is visible to that agent alone', async () => {
    const [one, other] = [await w.fund('one'), await w.fund('other')];
    await call(one.agentKey, 'ingest', { type: 'memory', memories: [{ text: 'mine' }] });
    const listed = await call(other.agentKey, 'list', {});
    expect(listed.body.result).toMatchObject({ data: { items: [], total: 0 } });
    expect((await call('svc_nothing', 'list', {})).status).toBe(401);
    const developer = await newDeveloper(w.api, 'reader');
    const refused = await ask(`${w.url}/v1/db/vectordb/list`, { ...developer, body: {} });
    expect(refused.status).toBe(401);
  });

  it('the memory of an agent refuses invalid bodies, and bodies that are too long', async () => {
    const { agentKey } = await w.fund('clumsy');
    const bad = await call(agentKey, 'query', '{');
    expect(bad).toMatchObject({ status: 400, body: { error: 'Invalid JSON body' } });
    const wrong = await call(agentKey, 'query', { query: 7 });
    expect(wrong).toMatchObject({ status: 400, body: { error: 'Invalid request' } });
    expect(wrong.body.details).toMatchObject([{ path: ['query'] }]);
    const long = await call(agentKey, 'ingest', `{"a":"${'x'.repeat(4 * 1024 * 1024)}"}`);
    expect(long.status).toBe(413);
  });

  it('the memory of an agent is deleted when the agent is closed', async () => {
    const developer = await newDeveloper(w.api, 'closer');
    const agentId = await developer.createAgent('leaving');
    const { key: agentKey } = await developer.mintKey(agentId);
    await call(agentKey, 'ingest', {
      type: 'memory',
      memories: [{ text: 'secret of the leaving' }],
    });
    const closed = await ask(`${w.url}/v1/admin/agents/${agentId}/close`, {
      headers: { 'x-admin-key': w.adminApiKey },
      body: {},
    });
    expect(closed.status, JSON.stringify(closed.body)).toBe(200);
    const left = () => w.sql`select 1 from memory_items where text like '%leaving%'`;
    await expect.poll(async () => (await left()).length).toBe(0);
  });
});
