import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectModern } from '../support/mcp-client.ts';
import { type OpenAiUpstream, openAiUpstream } from '../support/openai-upstream.ts';
import { ask, moneyOf, startWorld, type WholeWorld } from '../support/whole-world.ts';

const directory = mkdtempSync(join(tmpdir(), 'svc-memory-'));
const MODEL = 'acme/vectors';
let upstream: OpenAiUpstream;
let w: WholeWorld;
beforeAll(async () => {
  upstream = await openAiUpstream();
  upstream.usage = { prompt_tokens: 5, completion_tokens: 0 };
  const source = {
    rail: 'direct-account',
    provider: 'up',
    upstreamModel: 'm',
    rates: { text_input_token: '100' },
  };
  const models = [{ id: MODEL, modality: 'embedding', contextWindow: null, sources: [source] }];
  const providers = { up: { baseUrl: upstream.baseUrl, dialect: 'openai' } };
  const catalogue = join(directory, 'catalogue.json');
  writeFileSync(catalogue, JSON.stringify({ providers, models }));
  w = await startWorld({ CATALOG_FILE: catalogue, MEMORY_EMBEDDING_MODEL: MODEL });
});
afterAll(async () => {
  await w[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

describe('a server whose memories are embedded by a model that is sold', () => {
  it('a purchased memory embedding is charged for items and queries, and the cost is shown on the route and through the proxy', async () => {
    const { agentId, agentKey } = await w.fund('rememberer');
    const headers = { authorization: `Bearer ${agentKey}` };
    const call = (op: string, body: unknown) =>
      ask(`${w.url}/v1/db/vectordb/${op}`, { headers, body });
    const ingested = await call('ingest', { type: 'memory', memories: [{ text: 'a red car' }] });
    const { result } = ingested.body as { result: { data: { results: { id: string }[] } } };
    const ids = result.data.results.map(({ id }) => id);
    const status = async () => (await call('status', { ids })).body;
    await expect
      .poll(status, { timeout: 20_000 })
      .toMatchObject({ result: { data: { statuses: [{ status: 'completed', costRaw: '525' }] } } });
    const query = { query: 'which car', mode: 'semantic' };
    const told = await call('query', query);
    expect(told.body).toMatchObject({
      result: { data: { chunks: [{ chunk_content: 'a red car' }], costRaw: '525' } },
    });
    expect(told.headers.get('x-svc-cost-usdc')).toBe('525');
    expect(told.headers.get('x-svc-payment')).toBe('gateway');
    const proxied = await ask(`${w.url}/v1/proxy/fetch`, {
      headers,
      body: {
        url: `${w.url}/v1/db/vectordb/query`,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(query),
      },
    });
    expect(proxied.status).toBe(200);
    expect(proxied.headers.get('x-svc-cost-usdc')).toBe('525');
    expect(proxied.headers.get('x-svc-payment')).toBe('gateway');
    expect(await moneyOf(w.sql, agentId)).toMatchObject({ charged: 1_575n, held: 0n });
    const free = await call('query', { query: 'car', mode: 'keyword' });
    expect(free.headers.get('x-svc-cost-usdc')).toBeNull();
  });

  it('a purchased memory embedding is written and charged once under one Idempotency-Key, over HTTP and over MCP', async () => {
    const { agentId, agentKey } = await w.fund('repeater');
    const call = (op: string, key: string, body: unknown) =>
      ask(`${w.url}/v1/db/vectordb/${op}`, {
        headers: { authorization: `Bearer ${agentKey}`, 'idempotency-key': key },
        body,
      });
    const money = () => moneyOf(w.sql, agentId);
    const written = { type: 'memory', memories: [{ text: 'a red car' }, { text: 'a blue boat' }] };
    const first = await call('ingest', 'write', written);
    expect(first.status).toBe(200);
    for (let n = 1; n < 8; n++) {
      expect((await call('ingest', 'write', written)).body).toEqual(first.body);
    }
    const { result } = first.body as { result: { data: { results: { id: string }[] } } };
    const ids = result.data.results.map(({ id }) => id);
    const statuses = async () => (await call('status', 'unused', { ids })).body;
    const completed = { status: 'completed', costRaw: '525' };
    await expect
      .poll(statuses, { timeout: 20_000 })
      .toMatchObject({ result: { data: { statuses: [completed, completed] } } });
    expect(await money()).toMatchObject({ charged: 1_050n, held: 0n });
    const [count] = await w.sql<{ items: number }[]>`
      select count(*)::int as items from memory_items where agent_id = ${agentId}`;
    expect(count?.items).toBe(2);

    const query = { query: 'which car', mode: 'semantic' };
    const found = await call('query', 'ask', query);
    expect(found.headers.get('x-svc-cost-usdc')).toBe('525');
    for (let n = 1; n < 8; n++) {
      const again = await call('query', 'ask', query);
      expect([again.status, again.body]).toEqual([200, found.body]);
    }
    expect(await money()).toMatchObject({ charged: 1_575n, held: 0n });

    await using session = await connectModern({ url: w.url, key: agentKey });
    const told = await session.call('recall', query, 'recalled');
    expect(told.structuredContent).toMatchObject({ costRaw: '525' });
    for (let n = 1; n < 8; n++) {
      const again = await session.call('recall', query, 'recalled');
      expect(again.structuredContent).toEqual({ ...told.structuredContent, replayed: true });
    }
    expect(await money()).toMatchObject({ charged: 2_100n, held: 0n });
    // One key is one with the same key on the route behind the tool.
    expect((await call('query', 'recalled', query)).status).toBe(200);
    expect(await money()).toMatchObject({ charged: 2_100n, held: 0n });
  });

  it('a server does not start with a memory embedding model that the catalogue does not sell', async () => {
    const start = async () => {
      await using world = await startWorld({ MEMORY_INFER_MODEL: MODEL });
      return world.url;
    };
    await expect(start()).rejects.toThrow('MEMORY_INFER_MODEL');
  });
});
