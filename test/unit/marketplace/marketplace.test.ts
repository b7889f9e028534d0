import { describe, expect, it } from 'vitest';
import { requestErrors } from '../../../src/http/route/errors.ts';
import { createMarketAddress } from '../../../src/marketplace/market-address.ts';
import { createMarketplace } from '../../../src/marketplace/marketplace.ts';
import type { MemoryAnswer } from '../../../src/memory/memory.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const BASE = 'https://m.example';

type Run = { op: string; agentId: number; body: unknown };

function market(
  answer: MemoryAnswer | Error = { status: 200, body: { result: { success: true } }, headers: {} },
) {
  const runs: Run[] = [];
  const sold: unknown[] = [];
  const priced: unknown[] = [];
  const clock = new ManualClock();
  const place = createMarketplace({
    address: createMarketAddress(() => BASE),
    clock,
    memory: {
      recall: async () => undefined,
      async run(op, { agentId }, body) {
        runs.push({ op, agentId, body });
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
    documents: {
      submit: () => Promise.reject(new Error('no documents')),
      read: () => Promise.reject(new Error('no documents')),
      priceOf: () => ({ kind: 'sold', priceRaw: 5n, per: { quantity: 1, unit: 'page' } }),
    },
    shim: {
      priceOf(call) {
        priced.push(call);
        return { kind: 'sold', priceRaw: 7n };
      },
      async serve(call) {
        sold.push(call);
        return {
          status: 200,
          headers: {},
          body: Buffer.from('{}'),
          costRaw: 7n,
          upstreamMs: 1,
          payment: 'internal',
          advisory: '{"near":true}',
        };
      },
    },
  });
  const call = (path: string, body?: string | Uint8Array, method: 'POST' | 'GET' = 'POST') =>
    place.call({
      url: `${BASE}${path}`,
      method,
      headers: [],
      body,
      workId: 'w1',
      accountId: 'acct_1',
      spender: { agentId: 3, keyId: 4 },
      signal: new AbortController().signal,
    });
  return { runs, sold, priced, place, call };
}

const readable = (body: Uint8Array) => JSON.parse(Buffer.from(body).toString());

describe('memory at the marketplace', () => {
  it('the memory service of the marketplace runs each operation as the calling agent at no charge', async () => {
    const { call, runs } = market();
    for (const op of ['query', 'ingest', 'status', 'list', 'delete', 'tenant/create']) {
      const told = await call(`/v1/db/vectordb/${op}`, '{"tenantId":"other"}');
      expect(told).toMatchObject({ status: 200, costRaw: 0n, payment: 'passthrough' });
      expect(readable(told.body)).toEqual({ result: { success: true } });
    }
    expect(runs.map(({ op }) => op)).toEqual([
      'query',
      'ingest',
      'status',
      'list',
      'delete',
      'tenant/create',
    ]);
    expect(new Set(runs.map(({ agentId }) => agentId))).toEqual(new Set([3]));
    expect(runs[0]?.body).toBe('{"tenantId":"other"}');
  });

  it('the marketplace relays refusals of the memory service at no charge', async () => {
    const { call } = market({
      status: 404,
      body: { error: 'tenant_not_found' },
      headers: { 'retry-after': '1' },
    });
    const told = await call('/v1/db/vectordb/query', '{}');
    expect(told).toMatchObject({ status: 404, costRaw: 0n, payment: 'passthrough' });
    expect(told.headers).toMatchObject({ 'retry-after': '1' });
    expect(readable(told.body)).toEqual({ error: 'tenant_not_found' });
  });

  it.each([
    ['an operation that there is not', '/v1/db/vectordb/drop', '{}', 404, 'not_found'],
    ['one below another', '/v1/db/vectordb/query/x', '{}', 404, 'not_found'],
    ['a member of every object', '/v1/db/vectordb/toString', '{}', 404, 'not_found'],
  ])(
    'the marketplace answers 404 without calling the memory service for %s',
    async (_, path, body, status, error) => {
      const { call, runs } = market();
      const told = await call(path, body);
      expect([told.status, readable(told.body).error]).toEqual([status, error]);
      expect(runs).toEqual([]);
    },
  );

  it('the memory service of the marketplace throws on a bug and when the client has left', async () => {
    await expect(market(new Error('bug')).call('/v1/db/vectordb/query', '{}')).rejects.toThrow(
      'bug',
    );
    const closed = requestErrors.clientClosed();
    await expect(market(closed).call('/v1/db/vectordb/query', '{}')).rejects.toBe(closed);
  });
});

describe('a price at the marketplace', () => {
  const priceOf = (path: string, body?: string) => {
    const { place, priced } = market();
    return { priced, price: place.priceOf({ url: `${BASE}${path}`, body }) };
  };

  it('a marketplace price is the vendor’s price for the given body, and memory is free', async () => {
    const { priced, price } = priceOf('/v1/tts/acme', '{"text":"Hello."}');
    expect(await price).toEqual({ kind: 'sold', priceRaw: 7n });
    expect(priced).toEqual([{ service: 'tts', vendor: 'acme', body: { text: 'Hello.' } }]);
    expect(await priceOf('/v1/db/vectordb/query').price).toEqual({ kind: 'free' });
    expect(await priceOf('/v1/doc/acme').price).toMatchObject({ priceRaw: 5n });
  });

  it.each(['/v1/nothing/acme', '/v1/tts/acme/more', '/v1/db/vectordb/drop'])(
    'the price of a marketplace path that does not exist is refused with 404: %s',
    async (path) => {
      await expect(priceOf(path).price).rejects.toMatchObject({ status: 404 });
    },
  );
});

describe('a service at the marketplace', () => {
  it('a marketplace service is sold under its full URL without the fragment and reports the budget advisory', async () => {
    const { call, place, sold } = market();
    const told = await call('/v1/tts/deepgram?a=b#c', '{"text":"hello"}');
    expect(told.headers).toEqual({ 'x-svc-budget-advisory': '{"near":true}' });
    expect(sold).toMatchObject([
      {
        service: 'tts',
        vendor: 'deepgram',
        body: { text: 'hello' },
        workId: 'w1',
        url: `${BASE}/v1/tts/deepgram?a=b`,
        host: 'm.example',
      },
    ]);
    expect([place.matches(`${BASE}/v1/x`), place.matches('https://other.example/v1/x')]).toEqual([
      true,
      false,
    ]);
  });

  it('the marketplace treats a missing body as an empty object', async () => {
    const { call, sold } = market();
    await call('/v1/lid/sarvam');
    expect(sold).toMatchObject([{ body: {} }]);
  });
});
