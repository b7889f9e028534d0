import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
    ...{ rail: 'direct-account', provider: 'up', upstreamModel: 'm' },
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
  it('charges the agent for items and queries, and says so on the route and through the proxy', async () => {
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
        ...{ url: `${w.url}/v1/db/vectordb/query`, method: 'POST' },
        ...{ headers: { 'content-type': 'application/json' }, body: JSON.stringify(query) },
      },
    });
    expect(proxied.status).toBe(200);
    expect(proxied.headers.get('x-svc-cost-usdc')).toBe('525');
    expect(proxied.headers.get('x-svc-payment')).toBe('gateway');
    expect(await moneyOf(w.sql, agentId)).toMatchObject({ charged: 1_575n, held: 0n });
    const free = await call('query', { query: 'car', mode: 'keyword' });
    expect(free.headers.get('x-svc-cost-usdc')).toBeNull();
  });

  it('does not start with a model that the catalogue does not sell', async () => {
    const start = async () => {
      await using world = await startWorld({ MEMORY_INFER_MODEL: MODEL });
      return world.url;
    };
    await expect(start()).rejects.toThrow('MEMORY_INFER_MODEL');
  });
});
