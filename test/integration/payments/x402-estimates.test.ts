import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { estimateX402 } from '../../../src/routes/x402/estimate.ts';
import { forecastX402 } from '../../../src/routes/x402/forecast.ts';
import {
  fundsOf,
  type PayingAgent,
  type PaymentWorld,
  startPaymentWorld,
} from '../../support/payment-world.ts';
import { addPolicy } from '../../support/policies.ts';
import { ask, newDeveloper, type Told } from '../../support/whole-world.ts';

let bench: PaymentWorld;
let agent: PayingAgent;
beforeAll(async () => {
  bench = await startPaymentWorld({ TRUSTED_PROXIES: '127.0.0.0/8' });
  agent = await bench.payer('estimating', 1_000_000n);
});
afterAll(() => bench[Symbol.asyncDispose]());

let askers = 0;

/** Every question comes from an address of its own. */
const asked = (path: string, body: object, payer = agent, headers: Record<string, string> = {}) =>
  payer.ask(path, { body, headers: { 'x-forwarded-for': `203.0.113.${++askers}`, ...headers } });

const estimate = (url: string, payer?: PayingAgent, headers?: Record<string, string>) =>
  asked('/v1/x402/estimate', { url }, payer, headers);

const forecast = (items: readonly object[], payer?: PayingAgent) =>
  asked('/v1/x402/forecast', { items }, payer);

const reflection = ({ body }: Told) => body.reflection as Record<string, unknown>;

const named = ({ status, body }: Told) => [status, body.error];

describe('POST /v1/x402/estimate', () => {
  it('POST /v1/x402/estimate returns the price of a call in either x402 version, and pays nothing', async () => {
    const before = await fundsOf(bench.world.sql, agent.agentId);
    for (const version of [1, 2] as const) {
      const unpaid = { answer: { kind: 'challenge', version } } as const;
      const url = bench.vendor.sell({ priceRaw: 4_321n, unpaid });
      const told = await estimate(url);
      expect([told.status, told.body]).toMatchObject([
        200,
        {
          url,
          method: 'GET',
          x402: true,
          priceRaw: '4321',
          network: 'base',
          scheme: 'exact',
          cached: false,
          reflection: { available: '1000000', headroomToAutoBorrow: '1000000' },
        },
      ]);
      expect(estimateX402.response?.parse(told.body)).toEqual(told.body);
      expect(bench.vendor.nonces(url)).toEqual([]);
    }
    expect(await fundsOf(bench.world.sql, agent.agentId)).toEqual(before);
  });

  it('POST /v1/x402/estimate sends the vendor one request per half minute, with the requested method', async () => {
    const url = bench.vendor.sell();
    expect((await estimate(url)).body.cached).toBe(false);
    const again = await estimate(url);
    expect(again.body).toMatchObject({ cached: true, x402: true });
    const post = await asked('/v1/x402/estimate', { url, method: 'POST' });
    expect(post.body).toMatchObject({ cached: false, method: 'POST' });
    expect(bench.vendor.seen(url).map(({ method }) => method)).toEqual(['GET', 'POST']);
  });

  it('POST /v1/x402/estimate reports a target without a demand as free, and nothing more', async () => {
    const url = `${bench.vendor.origin}/free`;
    const { status, body } = await estimate(url);
    expect([status, body]).toEqual([
      200,
      { url, method: 'GET', x402: false, cached: false, fetchedAt: body.fetchedAt },
    ]);
    expect(estimateX402.response?.parse(body)).toEqual(body);
  });

  it('POST /v1/x402/estimate fails when the vendor names no price, and queries the vendor again the next time', async () => {
    const url = bench.vendor.sell({ unpaid: { answer: { kind: 'answer', status: 503 } } });
    for (let i = 0; i < 2; i++) {
      const told = await estimate(url);
      expect(named(told)).toEqual([502, 'preflight_failed']);
      expect(told.body.detail).toEqual(expect.any(String));
    }
    expect(bench.vendor.seen(url)).toHaveLength(2);
    const unread = { unpaid: { answer: { kind: 'challenge', headerText: '***' } } } as const;
    expect(named(await estimate(bench.vendor.sell(unread)))).toEqual([502, 'preflight_failed']);
  });

  it('POST /v1/x402/estimate refuses a blocked destination, an invalid URL and an invalid method', async () => {
    expect(named(await estimate('http://169.254.169.254/'))).toEqual([400, 'blocked_destination']);
    const wrong = [{}, { url: 'x' }, { url: 7 }, { url: bench.vendor.origin, method: 'BREW' }];
    for (const body of [...wrong, { url: bench.vendor.origin, method: 'TRACE' }]) {
      expect(named(await asked('/v1/x402/estimate', body))).toEqual([400, 'Invalid request']);
    }
  });

  it('POST /v1/x402/estimate is open to a read-only agent key, and not to a developer', async () => {
    const { world, vendor } = bench;
    const developer = await newDeveloper(world.api, 'reading');
    const agentId = await developer.createAgent('reader');
    const { body } = await ask(`${world.url}/v1/developer/agents/${agentId}/keys`, {
      headers: developer.headers,
      body: { permissions: 'read' },
    });
    const reading = { authorization: `Bearer ${body.key}` };
    expect((await estimate(vendor.sell(), agent, reading)).status).toBe(200);
    const items = [{ url: vendor.sell() }];
    expect((await asked('/v1/x402/forecast', { items }, agent, reading)).status).toBe(200);
    expect(named(await agent.fetch(vendor.sell(), reading))).toEqual([403, 'read_only_key']);
    expect(named(await estimate(vendor.sell(), agent, developer.headers))).toEqual([
      401,
      'wrong_credential_type',
    ]);
  });

  it('POST /v1/x402/estimate uses the same per-address rate limit as GET /v1/proxy/check', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.9' };
    const body = { url: 'x' };
    for (let i = 0; i < 60; i++) await agent.ask('/v1/x402/estimate', { body, headers });
    const refused = await ask(`${bench.world.url}/v1/proxy/check?url=x`, { headers });
    expect([refused.status, refused.body.reason]).toEqual([429, 'ip_rate_limit']);
    expect(named(await agent.ask('/v1/x402/forecast', { body, headers }))).toEqual([
      429,
      'rate_limit_exceeded',
    ]);
  });
});

describe('what an estimate says of money', () => {
  it('an x402 estimate predicts the refusal of a payment, and ignores a credit that no deposit backs', async () => {
    const payer = await bench.payer('half backed', 6_000n);
    await ask(`${bench.world.url}/v1/admin/agents/${payer.agentId}/credit`, {
      headers: { 'x-admin-key': bench.world.adminApiKey },
      body: { amountRaw: '50000', reference: 'unbacked' },
    });
    const url = bench.vendor.sell({ priceRaw: 10_000n });
    expect(reflection(await estimate(url, payer))).toMatchObject({
      available: '6000',
      willExceedAvailable: true,
      willExceedHeadroom: true,
    });
    const refused = await payer.fetch(url);
    expect([refused.status, refused.body]).toMatchObject([
      402,
      { error: 'insufficient_balance', available: '6000', required: '10000' },
    ]);
    const cheap = bench.vendor.sell({ priceRaw: 6_000n });
    expect(reflection(await estimate(cheap, payer))).toMatchObject({ willExceedAvailable: false });
    expect((await payer.fetch(cheap)).status).toBe(200);
    expect(reflection(await estimate(cheap, payer))).toMatchObject({ available: '0' });
  });

  it("an x402 estimate predicts a refusal by a session limit, by a vendor's cap and by a key's cap", async () => {
    const payer = await bench.payer('limited');
    const url = bench.vendor.sell({ priceRaw: 10_000n });
    await payer.ask('/v1/agents/spend-limit', { method: 'PUT', body: { limitRaw: '15000' } });
    expect(reflection(await estimate(url, payer))).toMatchObject({
      sessionSpendRemaining: '15000',
      willExceedSpendLimit: false,
    });
    expect((await payer.fetch(url)).status).toBe(200);
    expect(reflection(await estimate(url, payer))).toMatchObject({
      sessionSpendRemaining: '5000',
      willExceedSpendLimit: true,
    });
    expect(named(await payer.fetch(url))).toEqual([402, 'spend_limit_exceeded']);
    await payer.ask('/v1/agents/spend-limit', { method: 'DELETE' });
    const { payTo } = (await estimate(url, payer)).body;
    const cap = { kind: 'vendor', matchKey: payTo, limitRaw: '19999' };
    expect((await payer.ask('/v1/agents/policies', { body: cap })).status).toBe(201);
    expect(reflection(await estimate(url, payer))).toMatchObject({ willExceedSpendLimit: true });
    expect(named(await payer.fetch(url))).toEqual([402, 'spend_limit_exceeded']);
  });
});

describe('POST /v1/x402/forecast', () => {
  it('POST /v1/x402/forecast prices many calls, and lists separately those that have no price', async () => {
    const url = bench.vendor.sell({ priceRaw: 2_000n });
    const silent = bench.vendor.sell({ unpaid: { answer: { kind: 'drop', after: 'request' } } });
    const told = await forecast([
      { url, count: 10 },
      { url: `${bench.vendor.origin}/free` },
      { url: silent },
    ]);
    expect([told.status, told.body]).toMatchObject([
      200,
      {
        forecast: {
          totalRaw: '20000',
          currency: 'USDC',
          decimals: 6,
          items: [
            { index: 0, x402: true, priceRaw: '2000', subtotalRaw: '20000', count: 10 },
            { index: 1, x402: false, priceRaw: '0', subtotalRaw: '0', count: 1 },
            { index: 2, x402: null, priceRaw: null, error: 'preflight_failed' },
          ],
          reflection: { willExceedAvailable: false, willExceedSpendLimit: false },
        },
        policyPreflight: { ok: true, breaches: [] },
      },
    ]);
    expect(forecastX402.response?.parse(told.body)).toEqual(told.body);
    expect(bench.vendor.nonces(url)).toEqual([]);
  });

  it('POST /v1/x402/forecast names a call that would be refused, and no call that would be allowed', async () => {
    const payer = await bench.payer('planning');
    const url = bench.vendor.sell({ priceRaw: 4_000n });
    const other = bench.vendor.sell({ priceRaw: 1_000n });
    const task = { kind: 'task', matchKey: 'plan', windowKind: 'once', limitRaw: '9500' };
    const made = await payer.ask('/v1/agents/policies', { body: { ...task, label: 'the plan' } });
    const told = await forecast(
      [{ url, count: 3, taskId: 'Plan' }, { url }, { url: other, taskId: 'plan' }],
      payer,
    );
    const { id: policyId } = made.body.policy as { id: number };
    expect(told.body.policyPreflight).toEqual({
      ok: false,
      breaches: [
        {
          itemIndex: 0,
          policyId,
          kind: 'task',
          matchKey: 'plan',
          label: 'the plan',
          limitRaw: '9500',
          projectedSpentRaw: '12000',
          reason: 'policy_exceeded',
        },
      ],
    });
    const tagged = { 'x-svc-task-id': 'plan' };
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await payer.fetch(url, tagged)).status);
    statuses.push((await payer.fetch(url)).status, (await payer.fetch(other, tagged)).status);
    expect(statuses).toEqual([200, 200, 402, 200, 200]);
  });

  it('POST /v1/x402/forecast includes the caps that a team shares', async () => {
    const payer = await bench.payer('of a team');
    const [row] = await bench.world.sql<{ account: string }[]>`
      select account_id as account from agents where id = ${payer.agentId}`;
    const accountId = row?.account ?? '';
    const policyId = await addPolicy(bench.world.sql, {
      accountId,
      agentId: null,
      kind: 'session',
      limitRaw: 5_000n,
    });
    const url = bench.vendor.sell({ priceRaw: 2_000n });
    const told = await forecast([{ url, count: 2 }, { url }], payer);
    expect(told.body.policyPreflight).toMatchObject({
      ok: false,
      breaches: [{ itemIndex: 1, policyId, projectedSpentRaw: '6000' }],
    });
  });

  it('POST /v1/x402/forecast is refused whole for one blocked destination, and fails when no call has a price', async () => {
    const url = bench.vendor.sell();
    const told = await forecast([{ url }, { url: 'http://169.254.169.254/' }]);
    expect(named(told)).toEqual([400, 'blocked_destination']);
    expect(bench.vendor.seen(url)).toEqual([]);
    const dead = bench.vendor.sell({ unpaid: { answer: { kind: 'drop', after: 'request' } } });
    expect(named(await forecast([{ url: dead }]))).toEqual([502, 'forecast_failed']);
  });

  it('POST /v1/x402/forecast takes 1 to 50 items of 1 to 10000 calls', async () => {
    const url = `${bench.vendor.origin}/free`;
    const wrong = [
      [],
      Array.from({ length: 51 }, () => ({ url })),
      [{ url, count: 0 }],
      [{ url, count: 10_001 }],
      [{ url, count: 1.5 }],
      [{ url, taskId: 'x'.repeat(129) }],
      [{ method: 'GET' }],
    ];
    for (const items of wrong)
      expect(named(await forecast(items))).toEqual([400, 'Invalid request']);
    const most = Array.from({ length: 50 }, () => ({
      url,
      count: 10_000,
      method: null,
      taskId: null,
    }));
    expect((await forecast(most)).status).toBe(200);
  });
});
