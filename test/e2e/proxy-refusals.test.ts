import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRpcProxy } from '../support/chain/rpc-proxy.ts';
import {
  fundPayer,
  fundsOf,
  type PayingAgent,
  type PaymentWorld,
  payingEnvironment,
  startPaymentWorld,
  until,
} from '../support/payment-world.ts';
import { ask, newDeveloper, startWorld } from '../support/whole-world.ts';

let bench: PaymentWorld;
let agent: PayingAgent;
beforeAll(async () => {
  bench = await startPaymentWorld({ BUDGET_ADVISORY_ENABLED: '1' });
  agent = await bench.payer('asking', 1_000_000n);
});
afterAll(() => bench[Symbol.asyncDispose]());

const policy = (body: Record<string, unknown>, payer = agent) =>
  payer.ask('/v1/agents/policies', { body });

describe('a request that is wrong in itself', () => {
  it.each([
    ['no url', {}],
    ['a url that is none', { url: 'vendor.example/paid' }],
    ['an odd method', { url: 'https://vendor.example/', method: 'BREW' }],
    ['headers that are a list', { url: 'https://vendor.example/', headers: ['a'] }],
    ['a header with a line break', { url: 'https://vendor.example/', headers: { a: 'b\r\nc: d' } }],
  ])('an invalid proxy request is refused with the reason: %s', async (_, body) => {
    const refused = await agent.ask('/v1/proxy/fetch', { body });
    expect([refused.status, refused.body.error]).toEqual([400, 'Invalid request']);
    expect(refused.body.details).toHaveLength(1);
  });

  it('a proxy request is refused for its credential before anything else', async () => {
    const url = `${bench.world.url}/v1/proxy/fetch`;
    const none = await ask(url, { body: {} });
    expect([none.status, none.body.error]).toEqual([
      401,
      'Missing or invalid Authorization header',
    ]);
    const owner = await ask(url, { body: {}, headers: { authorization: 'Bearer svc_live_x' } });
    expect([owner.status, owner.body.error]).toEqual([401, 'wrong_credential_type']);
  });

  it('a proxy request to a blocked destination is told why, and nothing is sent', async () => {
    const refused = await agent.fetch('http://169.254.169.254/latest/meta-data/');
    expect([refused.status, refused.body.error]).toEqual([400, 'blocked_destination']);
    expect(refused.headers.get('x-svc-payment')).toBeNull();
  });

  it('a proxy request to a port without a server reads as unreachable', async () => {
    const refused = await agent.fetch('http://127.0.0.1:9/');
    expect(refused.body.error).toMatch(/blocked_destination|Failed to reach target URL/);
  });
});

describe('spend controls', () => {
  it('the allowlist refuses a host that is not on it before anything is sent to the host', async () => {
    const payer = await bench.payer('listed');
    await payer.ask('/v1/agents/allowlist-mode', { method: 'PUT', body: { mode: 'host' } });
    const url = bench.vendor.sell();
    const refused = await payer.fetch(url);
    expect([refused.status, refused.body]).toMatchObject([
      403,
      { error: 'host_not_allowlisted', host: '127.0.0.1' },
    ]);
    expect(bench.vendor.seen(url)).toEqual([]);
  });

  it('the allowlist refuses a payee that is not on it after the price is known and before anything is signed', async () => {
    const payer = await bench.payer('payee-listed');
    await payer.ask('/v1/agents/allowlist-mode', { method: 'PUT', body: { mode: 'vendor' } });
    const url = bench.vendor.sell();
    const refused = await payer.fetch(url);
    expect([refused.status, refused.body.error]).toEqual([403, 'vendor_not_allowlisted']);
    expect(bench.vendor.nonces(url)).toEqual([]);
  });

  it('a vendor cap counts by wallet, is named in its refusal, and can suspend the agent', async () => {
    const payer = await bench.payer('capped');
    const url = bench.vendor.sell({ priceRaw: 10_000n });
    const first = await payer.fetch(url);
    expect(first.status).toBe(200);
    const [row] = await bench.world.sql<{ payee: string }[]>`
      select payee from reservations where agent_id = ${payer.agentId}`;
    const made = await policy(
      { kind: 'vendor', matchKey: row?.payee, limitRaw: '15000', action: 'suspend_agent' },
      payer,
    );
    expect(made.status).toBe(201);
    const refused = await payer.fetch(url);
    expect([refused.status, refused.body]).toMatchObject([
      402,
      {
        error: 'spend_limit_exceeded',
        code: 'policy_exceeded',
        kind: 'vendor',
        matchKey: row?.payee,
        required: '10000',
        spent: '10000',
        limit: '15000',
        available: '5000',
        auto_suspended: true,
      },
    ]);
    expect(bench.vendor.nonces(url)).toHaveLength(1);
    const after = await payer.fetch(url);
    expect([after.status, after.body.error]).toEqual([403, 'agent_suspended']);
  });

  it('a used-up cap refuses a proxy request before the first vendor request', async () => {
    const payer = await bench.payer('used-up');
    await payer.ask('/v1/agents/spend-limit', { method: 'PUT', body: { limitRaw: '10000' } });
    const url = bench.vendor.sell({ priceRaw: 10_000n });
    expect((await payer.fetch(url)).status).toBe(200);
    const again = bench.vendor.sell({ priceRaw: 10_000n });
    const refused = await payer.fetch(again);
    // Its price is not known, and none is made up.
    expect([refused.status, refused.body]).toMatchObject([
      402,
      { error: 'spend_limit_exceeded', available: '0', required: null, spent: '10000' },
    ]);
    expect(bench.vendor.seen(again)).toEqual([]);
    expect((await payer.fetch(url)).body).toMatchObject({ available: '0', required: '10000' });
  });

  it('a used-up kill switch suspends its agent at the next call, whether or not that call costs', async () => {
    const payer = await bench.payer('switched');
    const url = bench.vendor.sell({ priceRaw: 10_000n });
    const { host } = new URL(url);
    const made = await policy(
      { kind: 'api', matchKey: host.split(':')[0], limitRaw: '10000', action: 'suspend_agent' },
      payer,
    );
    const { id } = made.body.policy as { id: number };
    expect((await payer.fetch(url)).status).toBe(200);
    const again = bench.vendor.sell({ priceRaw: 10_000n });
    const refused = await payer.fetch(again);
    expect([refused.status, refused.body]).toMatchObject([
      402,
      {
        error: 'spend_limit_exceeded',
        code: 'policy_exceeded',
        kind: 'api',
        policyId: id,
        available: '0',
        required: null,
        spent: '10000',
        limit: '10000',
        auto_suspended: true,
      },
    ]);
    expect(bench.vendor.seen(again)).toEqual([]);
    const after = await payer.fetch(again);
    expect([after.status, after.body.error]).toEqual([403, 'agent_suspended']);
    const [row] = await bench.world.sql<{ status: string; suspended_reason: string }[]>`
      select status, suspended_reason from agents where id = ${payer.agentId}`;
    expect(row).toEqual({ status: 'suspended', suspended_reason: `policy:${id}` });
  });

  it('a cap scales with the value of the task, and is shown on the paid response', async () => {
    const payer = await bench.payer('valued');
    const headers = { 'x-svc-task-id': 'T1' };
    await policy(
      {
        kind: 'task',
        matchKey: 't1',
        windowKind: 'once',
        limitRaw: '10000',
        limitCeilingRaw: '40000',
      },
      payer,
    );
    const url = bench.vendor.sell({ priceRaw: 20_000n });
    expect((await payer.fetch(url, headers)).status).toBe(402);
    const paid = await payer.fetch(url, { ...headers, 'x-svc-task-value': '30000' });
    expect(paid.status).toBe(200);
    expect(JSON.parse(paid.headers.get('x-svc-budget-advisory') ?? '{}')).toMatchObject({
      tightest: { scope: 'task', match: 't1', remaining_raw: '10000' },
    });
  });
});

describe('the two balances', () => {
  it('a credit that no deposit backs pays no vendor', async () => {
    const payer = await bench.payer('credited', 5_000n);
    await ask(`${bench.world.url}/v1/admin/agents/${payer.agentId}/credit`, {
      headers: { 'x-admin-key': bench.world.adminApiKey },
      body: { amountRaw: '1000000', reference: 'unbacked' },
    });
    const url = bench.vendor.sell({ priceRaw: 10_000n });
    const refused = await payer.fetch(url);
    expect([refused.status, refused.body]).toMatchObject([
      402,
      { error: 'insufficient_balance', available: '5000', required: '10000' },
    ]);
    const small = bench.vendor.sell({ priceRaw: 5_000n });
    expect((await payer.fetch(small)).status).toBe(200);
  });

  it('concurrent payments pass exactly as far as the wallet covers them', async () => {
    const payer = await bench.payer('racing', 50_000n);
    const url = bench.vendor.sell({
      priceRaw: 10_000n,
      paid: { settle: 'never', answer: { kind: 'answer' } },
    });
    const told = await Promise.all(Array.from({ length: 40 }, () => payer.fetch(url)));
    const by = (status: number) => told.filter((one) => one.status === status).length;
    expect([by(200), by(402)]).toEqual([5, 35]);
    expect(bench.vendor.nonces(url)).toHaveLength(5);
    expect(await fundsOf(bench.world.sql, payer.agentId)).toMatchObject({ promised: 50_000n });
  });
});

it('with the chain away free calls go on, paid calls are refused, and no payment is released', async () => {
  await using way = await startRpcProxy(bench.chain.url);
  await using world = await startWorld(payingEnvironment(way.url));
  const { sql } = world;
  const developer = await newDeveloper(world.api, 'far');
  const payer = await fundPayer({ chain: bench.chain, developer, ...world }, 'far', 30_000n);
  const hung = bench.vendor.sell({
    priceRaw: 10_000n,
    paid: { settle: 'never', answer: { kind: 'answer' } },
  });
  expect((await payer.fetch(hung)).status).toBe(200);
  way.mode = { kind: 'down' };
  // Beyond its means, so that asking costs nothing while the last reading still counts.
  const dear = bench.vendor.sell({ priceRaw: 1_000_000n });
  await until(async () => (await payer.fetch(dear)).status === 503, 45_000);
  const refused = await payer.fetch(bench.vendor.sell());
  expect([refused.status, refused.body.error]).toEqual([503, 'circuit_breaker_stale']);
  const free = await payer.fetch(`${bench.vendor.origin}/free`);
  expect([free.status, free.headers.get('x-svc-payment')]).toEqual([200, 'passthrough']);
  await bench.chain.travel(500);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await fundsOf(sql, payer.agentId)).toMatchObject({ held: 10_000n, promised: 10_000n });
  const status = await ask(`${world.url}/v1/status`);
  expect(status.status).toBe(200);
  way.mode = { kind: 'up' };
  await until(async () => (await fundsOf(sql, payer.agentId)).held === 0n);
  expect(await fundsOf(sql, payer.agentId)).toMatchObject({ spendable: 30_000n, promised: 0n });
}, 90_000);
