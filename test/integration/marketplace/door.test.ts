import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { estimateX402 } from '../../../src/routes/x402/estimate.ts';
import {
  MARKET,
  type MarketWorld,
  SPEECH,
  setPolicy,
  startMarketWorld,
  TEXT,
  TEXT_RAW,
} from '../../support/vendors/market-world.ts';
import { ask, moneyOf } from '../../support/whole-world.ts';

let market: MarketWorld;
beforeAll(async () => {
  market = await startMarketWorld({ BUDGET_ADVISORY_ENABLED: '1' });
});
afterAll(() => market[Symbol.asyncDispose]());

describe('the door', () => {
  it('a proxied call to the marketplace host is served in this process, without an outgoing request to the host', async () => {
    const agent = await market.shopper('at the door');
    const before = market.peer.heard.length;
    const told = await agent.buy(SPEECH, { text: TEXT });
    expect(told.status).toBe(200);
    expect(told.headers.get('x-svc-cost-usdc')).toBe(String(TEXT_RAW));
    expect(told.headers.get('x-svc-payment-amount')).toBe('0.003150');
    // The vendor was asked once, and nothing else went out.
    expect(market.peer.heard).toHaveLength(before + 1);
  });

  it('an estimate of a marketplace call gives its exact price without calling a vendor or an address', async () => {
    const agent = await market.shopper('asking first');
    const estimate = (path: string, body?: unknown) =>
      agent.ask('/v1/x402/estimate', { body: { url: `${MARKET}${path}`, method: 'POST', body } });
    const before = market.peer.heard.length;
    const exact = await estimate(SPEECH, { text: TEXT });
    expect([exact.status, exact.body]).toMatchObject([
      200,
      { x402: true, priceRaw: String(TEXT_RAW), scheme: 'credit', payTo: new URL(MARKET).host },
    ]);
    expect(estimateX402.response?.parse(exact.body)).toEqual(exact.body);
    // A text goes as the proxy would send it.
    expect((await estimate(SPEECH, JSON.stringify({ text: TEXT }))).body.priceRaw).toBe(
      `${TEXT_RAW}`,
    );
    expect((await estimate(SPEECH)).body).toMatchObject({
      priceRaw: '31500',
      per: { quantity: 1_000, unit: 'character' },
    });
    expect((await estimate('/v1/tts/local', { text: TEXT })).body).toMatchObject({ x402: false });
    expect((await estimate('/v1/db/vectordb/query')).body).toMatchObject({ x402: false });
    expect(await estimate('/v1/tts/acme')).toMatchObject({
      status: 502,
      body: { error: 'preflight_failed' },
    });
    expect((await estimate(SPEECH, { text: '' })).status).toBe(400);
    const items = [{ url: `${MARKET}${SPEECH}`, method: 'POST', count: 3, body: { text: TEXT } }];
    const { body } = await agent.ask('/v1/x402/forecast', { body: { items } });
    expect(body.forecast).toMatchObject({ totalRaw: String(3n * TEXT_RAW) });
    expect(market.peer.heard).toHaveLength(before);
    const told = await agent.buy(SPEECH, { text: TEXT });
    expect(told.headers.get('x-svc-cost-usdc')).toBe(exact.body.priceRaw);
  });

  it('the marketplace host defaults to this machine, under each of its names', async () => {
    await using local = await startMarketWorld({ MARKETPLACE_URL: '' });
    const agent = await local.shopper('at home');
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      const url = `http://${host}:${local.world.port}${SPEECH}`;
      const body = { url, method: 'POST', body: { text: TEXT } };
      const told = await agent.ask('/v1/proxy/fetch', { body });
      expect([host, told.status, told.headers.get('x-svc-payment')]).toEqual([
        host,
        200,
        'internal',
      ]);
    }
    const [row] = await local.world.sql<{ hosts: string[] }[]>`
      select array_agg(distinct target_host) as hosts from charges where agent_id = ${agent.agentId}`;
    expect(row?.hosts).toEqual(['127.0.0.1']);
  });

  it.each([
    ['a path that there is not', '/v1/nothing/here', { text: 'a' }, 404, 'not_found'],
    ['a path below a service', `${SPEECH}/more`, { text: 'a' }, 404, 'not_found'],
    ['a vendor that there is not', '/v1/tts/acme', { text: 'a' }, 404, 'not_found'],
    [
      'a service that a vendor has not',
      '/v1/stt/rime',
      { audioUrl: 'http://a/' },
      404,
      'not_found',
    ],
    ['a body that is no JSON', SPEECH, '{"text":', 400, 'Invalid JSON body'],
    ['a body that is a list', SPEECH, '[]', 400, 'Invalid JSON body'],
    ['a body without a text', SPEECH, {}, 400, 'Invalid request'],
    ['a text that is too long', SPEECH, { text: 'x'.repeat(2_001) }, 400, 'Invalid request'],
    [
      'a body that is too long',
      SPEECH,
      { text: 'a', more: 'x'.repeat(140_000) },
      413,
      'payload_too_large',
    ],
    [
      'a model without a price',
      '/v1/tts/elevenlabs',
      { text: 'a', model: 'v9' },
      400,
      'Invalid request',
    ],
    [
      'an option that changes the bill',
      '/v1/stt/deepgram',
      { audioUrl: 'SOUND', options: { multichannel: true } },
      400,
      'Invalid request',
    ],
    [
      'a voice that would leave its path',
      '/v1/tts/elevenlabs',
      { text: 'a', voice: '../user' },
      400,
      'Invalid request',
    ],
    [
      'a memory that is not there',
      '/v1/db/vectordb/tenant/delete',
      { confirm: true },
      404,
      'tenant_not_found',
    ],
    [
      'a place that is not called',
      '/v1/stt/deepgram',
      { audioUrl: 'http://169.254.169.254/a.wav' },
      400,
      'blocked_destination',
    ],
    [
      'a file that is not there',
      '/v1/stt/deepgram',
      { audioUrl: 'NOTHING' },
      400,
      'Invalid request',
    ],
  ])(
    'a proxied marketplace call with %s is answered with its error for nothing',
    async (_, path, wish, status, error) => {
      const agent = await market.shopper('wrong', 100_000n);
      const text = JSON.stringify(wish)
        .replace('SOUND', market.sound(100))
        .replace('NOTHING', market.sound(1).replace('.wav', ''));
      const asked = market.peer.heard.length;
      const told = await agent.buy(path, typeof wish === 'string' ? wish : text);
      expect([told.status, told.body.error]).toEqual([status, error]);
      expect(told.body.message ?? told.body.detail).toBeTruthy();
      expect(told.headers.get('x-svc-payment')).toBe('passthrough');
      expect(told.headers.get('x-svc-cost-usdc')).toBe('0');
      expect(market.peer.heard).toHaveLength(asked);
      expect(await moneyOf(market.world.sql, agent.agentId)).toMatchObject({
        spendable: 100_000n,
        held: 0n,
      });
    },
  );

  it('the marketplace host takes POST alone', async () => {
    const agent = await market.shopper('getting');
    const told = await agent.buy(SPEECH, undefined, { method: 'GET' });
    expect([told.status, told.body.error, told.headers.get('allow')]).toEqual([
      405,
      'method_not_allowed',
      'POST',
    ]);
  });

  it('marketplace calls appear in the history with their cost', async () => {
    const agent = await market.shopper('history');
    await agent.buy(
      SPEECH,
      { text: TEXT },
      { headers: { 'x-svc-task-id': 'T1', 'x-svc-action-id': 'A1' } },
    );
    market.peer.faults.push({ kind: 'status', status: 422 });
    await agent.buy(SPEECH, { text: TEXT });
    await agent.buy('/v1/nothing', {});
    const { body } = await agent.ask('/v1/agents/transactions');
    expect(body.transactions).toMatchObject([
      {
        targetUrl: `${MARKET}/v1/nothing`,
        responseStatusCode: 404,
        costRaw: '0',
        paymentAmountRaw: null,
      },
      {
        targetUrl: `${MARKET}${SPEECH}`,
        responseStatusCode: 422,
        costRaw: '0',
        paymentAmountRaw: null,
      },
      {
        targetUrl: `${MARKET}${SPEECH}`,
        method: 'POST',
        responseStatusCode: 200,
        status: 'success',
        costRaw: String(TEXT_RAW),
        paymentAmountRaw: String(TEXT_RAW),
        taskId: 't1',
        actionId: 'a1',
        nonce: null,
        paymentRecipient: null,
        x402TxHash: null,
      },
    ]);
  });
});

describe('the memory of an agent', () => {
  it('agent memory is written and searched for nothing, by an agent without money, and by no other agent', async () => {
    const agent = await market.shopper('rememberer', 1n);
    const stranger = await market.shopper('stranger', 1n);
    const text = 'The cat of the house is called Mog.';
    const memories = [{ text }];
    const kept = await agent.buy('/v1/db/vectordb/ingest', { type: 'memory', memories });
    expect([kept.status, kept.headers.get('x-svc-cost-usdc')]).toEqual([200, '0']);
    const chunksOf = async (who: typeof agent) => {
      const ask = { query: 'what is the cat called', tenantId: String(agent.agentId) };
      const told = await who.buy('/v1/db/vectordb/query', ask);
      expect(told.headers.get('x-svc-payment')).toBe('passthrough');
      return (told.body as { result?: { data: { chunks: { chunk_content: string }[] } } }).result
        ?.data.chunks;
    };
    await expect
      .poll(async () => (await chunksOf(agent))?.[0]?.chunk_content.split('\n')[0])
      .toBe(text);
    expect(await chunksOf(stranger)).toEqual([]);
    const { body } = await agent.ask('/v1/agents/transactions');
    expect(body.transactions).toContainEqual(
      expect.objectContaining({
        targetUrl: `${MARKET}/v1/db/vectordb/ingest`,
        costRaw: '0',
        paymentAmountRaw: null,
      }),
    );
  });
});

describe('an Idempotency-Key', () => {
  it('a proxied marketplace call under an Idempotency-Key buys once, and replays its response', async () => {
    const agent = await market.shopper('repeating');
    const headers = { 'idempotency-key': 'k1' };
    const asked = market.peer.heard.length;
    const first = await agent.buy(SPEECH, { text: TEXT }, { headers });
    const again = await agent.buy(SPEECH, { text: TEXT }, { headers });
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    for (const name of ['x-svc-cost-usdc', 'x-svc-payment']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
    expect(market.peer.heard).toHaveLength(asked + 1);
    expect(await moneyOf(market.world.sql, agent.agentId)).toMatchObject({
      charged: TEXT_RAW,
      held: 0n,
    });
  });

  it('a proxied marketplace call under an Idempotency-Key replays a vendor’s refusal', async () => {
    const agent = await market.shopper('refused once');
    const headers = { 'idempotency-key': 'k1' };
    market.peer.faults.push({ kind: 'status', status: 500 });
    const told = [
      await agent.buy(SPEECH, { text: TEXT }, { headers }),
      await agent.buy(SPEECH, { text: TEXT }, { headers }),
    ];
    expect(told.map(({ status }) => status)).toEqual([500, 500]);
    expect(await moneyOf(market.world.sql, agent.agentId)).toMatchObject({ charged: 0n, held: 0n });
  });
});

describe('the same routes, called themselves', () => {
  it('the direct marketplace routes serve a host on the allowlist, and refuse it when it is absent', async () => {
    const agent = await market.shopper('listed directly');
    await agent.ask('/v1/agents/allowlist-mode', { method: 'PUT', body: { mode: 'host' } });
    const asked = market.peer.heard.length;
    for (const path of [SPEECH, '/v1/tts/local']) {
      const refused = await agent.ask(path, { body: { text: TEXT } });
      expect([path, refused.status, refused.body]).toMatchObject([
        path,
        403,
        { error: 'host_not_allowlisted', host: 'market.example' },
      ]);
    }
    expect(market.peer.heard).toHaveLength(asked);
    await setPolicy(agent, { kind: 'api', matchKey: 'market.example', limitRaw: '1000000' });
    expect((await agent.ask(SPEECH, { body: { text: TEXT } })).status).toBe(200);
  });

  it('the direct marketplace routes sell the same as the proxy, with the same receipt and host', async () => {
    const agent = await market.shopper('direct');
    const told = await agent.ask(SPEECH, { body: { text: TEXT } });
    const proxied = await agent.buy(SPEECH, { text: TEXT });
    expect([told.status, told.body]).toEqual([200, proxied.body]);
    for (const name of ['x-svc-cost-usdc', 'x-svc-payment', 'content-type']) {
      expect([name, told.headers.get(name)]).toEqual([name, proxied.headers.get(name)]);
    }
    const rows = await market.world.sql<{ target_url: string }[]>`
      select distinct target_url from charges where agent_id = ${agent.agentId}`;
    expect(rows).toEqual([{ target_url: `${MARKET}${SPEECH}` }]);
  });

  it('calls of the direct marketplace routes are in the history with their cost, refusals too', async () => {
    const agent = await market.shopper('direct history');
    expect((await agent.ask(SPEECH, { body: { text: TEXT } })).status).toBe(200);
    expect((await agent.ask('/v1/tts/acme', { body: { text: TEXT } })).status).toBe(404);
    const { body } = await agent.ask('/v1/agents/transactions');
    expect(body.transactions).toMatchObject([
      { targetUrl: `${MARKET}/v1/tts/acme`, responseStatusCode: 404, costRaw: '0' },
      { targetUrl: `${MARKET}${SPEECH}`, responseStatusCode: 200, costRaw: String(TEXT_RAW) },
    ]);
  });

  it('the direct marketplace routes need an agent key, a body, and money', async () => {
    const agent = await market.shopper('poor', 1_000n);
    const none = await ask(`${market.world.url}${SPEECH}`, { body: { text: TEXT } });
    expect(none.status).toBe(401);
    const headers = { authorization: `Bearer ${agent.developerKey}` };
    const owner = await ask(`${market.world.url}${SPEECH}`, { body: { text: TEXT }, headers });
    expect([owner.status, owner.body.error]).toEqual([401, 'wrong_credential_type']);
    const broken = await agent.ask(SPEECH, { body: '{' });
    expect([broken.status, broken.body.error]).toEqual([400, 'Invalid JSON body']);
    const dear = await agent.ask(SPEECH, { body: { text: TEXT } });
    expect([dear.status, dear.body.error]).toEqual([402, 'budget_exhausted']);
    const proxied = await agent.buy(SPEECH, { text: TEXT });
    expect([proxied.status, proxied.body.error]).toEqual([402, 'insufficient_balance']);
    const other = await agent.ask('/v1/tts/acme', { body: { text: TEXT } });
    expect([other.status, other.body.error]).toEqual([404, 'not_found']);
  });
});
