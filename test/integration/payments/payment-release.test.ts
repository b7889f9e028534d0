import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminReleaseReservation } from '../../../src/routes/admin/reservations/release.ts';
import { agentFunding } from '../../../src/routes/developer/agents/funding.ts';
import { USDC } from '../../support/chain/eip3009.ts';
import {
  fundsOf,
  type PayingAgent,
  type PaymentWorld,
  startPaymentWorld,
} from '../../support/payment-world.ts';
import {
  ask,
  newDeveloper,
  startWorld,
  type Told,
  type WholeWorld,
} from '../../support/whole-world.ts';

/** The reconciler does not run here: only a release reads the chain. */
let bench: PaymentWorld;
beforeAll(async () => {
  bench = await startPaymentWorld({ RECONCILE_SECONDS: '3600' });
});
afterAll(() => bench[Symbol.asyncDispose]());

const named = ({ status, body }: Told) => [status, body.error];

const release = (nonce: string, { url, adminApiKey }: WholeWorld = bench.world) =>
  ask(`${url}/v1/admin/reservations/${nonce}/release`, {
    method: 'POST',
    headers: { 'x-admin-key': adminApiKey },
  });

/** An agent whose deposit stands in the books, as the reconciler would have written it. */
async function payer(name: string): Promise<PayingAgent> {
  const made = await bench.payer(name, 0n);
  await bench.chain.fundUsdc(made.wallet as `0x${string}`, 100_000n);
  await ask(`${bench.world.url}/v1/admin/agents/${made.agentId}/credit`, {
    headers: { 'x-admin-key': bench.world.adminApiKey },
    body: { amountRaw: '100000', reference: `deposit-${made.agentId}` },
  });
  await bench.world.sql`
    update agent_funds set wallet_raw = 100000, version = version + 1 where agent_id = ${made.agentId}`;
  return made;
}

const NEVER = { paid: { settle: 'never', answer: { kind: 'challenge' } } } as const;
const TAKEN = { paid: { settle: 'first', answer: { kind: 'answer', status: 500 } } } as const;

async function payAt(buyer: PayingAgent, script: typeof NEVER | typeof TAKEN): Promise<string> {
  const url = bench.vendor.sell({ priceRaw: 6_000n, ...script });
  await buyer.fetch(url);
  const [nonce] = bench.vendor.nonces(url);
  if (nonce === undefined) throw new Error('nothing was paid');
  return nonce;
}

const OPEN = { spendable: 94_000n, held: 6_000n, promised: 6_000n };
const BACK = { spendable: 100_000n, held: 0n, promised: 0n, wallet: 100_000n };

describe('POST /v1/admin/reservations/{nonce}/release', () => {
  // The others travel in time, and nothing signed by the clock of the server could be taken after that.
  it('POST /v1/admin/reservations/{nonce}/release settles a payment that is on the chain, whatever the vendor answered', async () => {
    const buyer = await payer('paid');
    const nonce = await payAt(buyer, TAKEN);
    expect(await fundsOf(bench.world.sql, buyer.agentId)).toMatchObject(OPEN);
    for (let i = 0; i < 2; i++) {
      const told = await release(nonce);
      expect([told.status, told.body]).toMatchObject([
        409,
        { error: 'reservation_settled', state: 'settled', terminal: true, nonce },
      ]);
      expect(told.body.txHash).toMatch(/^0x[0-9a-f]{64}$/);
    }
    expect(await fundsOf(bench.world.sql, buyer.agentId)).toEqual({
      spendable: 94_000n,
      held: 0n,
      promised: 0n,
      wallet: 94_000n,
    });
  });

  it('POST /v1/admin/reservations/{nonce}/release releases only once the chain shows that no payment is possible', async () => {
    const buyer = await payer('hasty');
    const nonce = await payAt(buyer, NEVER);
    const early = await release(nonce);
    expect([early.status, early.body]).toMatchObject([
      409,
      { error: 'reservation_undecided', state: 'pending_settlement', detail: expect.any(String) },
    ]);
    expect(await fundsOf(bench.world.sql, buyer.agentId)).toMatchObject(OPEN);
    await bench.chain.travel(100);
    // In whatever spelling its operator has it.
    const told = await release(`0x${nonce.slice(2).toUpperCase()}`);
    expect([told.status, told.body]).toMatchObject([
      200,
      { nonce, state: 'payment_rejected', terminal: true, txHash: null, settledAt: null },
    ]);
    expect(adminReleaseReservation.response?.parse(told.body)).toEqual(told.body);
    expect(await fundsOf(bench.world.sql, buyer.agentId)).toEqual(BACK);
    const again = await release(nonce);
    expect([again.status, again.body]).toEqual([200, told.body]);
    expect(await fundsOf(bench.world.sql, buyer.agentId)).toEqual(BACK);
  });

  it('POST /v1/admin/reservations/{nonce}/release releases once when many requests race', async () => {
    const buyer = await payer('many');
    const nonce = await payAt(buyer, NEVER);
    await bench.chain.travel(100);
    const told = await Promise.all(Array.from({ length: 8 }, () => release(nonce)));
    expect(new Set(told.map(({ status, body }) => `${status} ${body.state}`))).toEqual(
      new Set(['200 payment_rejected']),
    );
    expect(await fundsOf(bench.world.sql, buyer.agentId)).toEqual(BACK);
  });

  it('POST /v1/admin/reservations/{nonce}/release finds only payments of this server, and admits only the operator', async () => {
    const unknown = `0x${'00'.repeat(32)}`;
    for (const nonce of [unknown, 'x', '0x', `${unknown}00`]) {
      expect(named(await release(nonce)), nonce).toEqual([404, 'Not found']);
    }
    const { url } = bench.world;
    const anonymous = await ask(`${url}/v1/admin/reservations/${unknown}/release`, {
      method: 'POST',
    });
    expect(named(anonymous)).toEqual([401, 'Unauthorized']);
  });

  it('POST /v1/admin/reservations/{nonce}/release decides nothing while the chain is unreachable', async () => {
    const buyer = await payer('cut off');
    const nonce = await payAt(buyer, NEVER);
    await bench.chain.travel(100);
    const { sql } = bench.world;
    await using cut = await startWorld({ RPC_URL: 'http://127.0.0.1:1' });
    const [row] = await sql<{ line: string }[]>`
      select r::text as line from reservations r where nonce = ${nonce}`;
    const { line = '' } = row ?? {};
    await cut.sql`insert into reservations select (${line}::reservations).*`;
    expect(named(await release(nonce, cut))).toEqual([409, 'reservation_undecided']);
    const told = await release(nonce);
    expect(told.status).toBe(200);
  });
});

describe('GET /v1/developer/agents/{agentId}/funding', () => {
  it('GET /v1/developer/agents/{agentId}/funding names the wallet for USDC, and its balance', async () => {
    const developer = await newDeveloper(bench.world.api, 'funding');
    const agentId = await developer.createAgent('funded');
    const at = (path: string, headers = developer.headers) =>
      ask(`${bench.world.url}/v1/developer/agents/${path}`, { headers });
    const told = await at(`${agentId}/funding`);
    const { agent } = (await at(`${agentId}`)).body as { agent: Record<string, unknown> };
    expect([told.status, told.body]).toEqual([
      200,
      {
        agentId,
        depositAddress: agent.managedWalletAddress,
        network: 'base',
        chainId: 8453,
        token: 'USDC',
        tokenContract: USDC,
        forwardingEnabled: false,
        spendableBalance: '0',
        warnings: [],
        dashboardUrl: expect.stringMatching(/^http/),
      },
    ]);
    expect(agentFunding.response?.parse(told.body)).toEqual(told.body);
    const stranger = await newDeveloper(bench.world.api, 'a stranger');
    expect(named(await at(`${agentId}/funding`, stranger.headers))).toEqual([404, 'not_found']);
    expect(named(await at('0/funding'))).toEqual([404, 'not_found']);
    expect(named(await at('x/funding'))).toEqual([400, 'Invalid request']);
    await bench.world.sql`update agents set wallet_address = null where id = ${agentId}`;
    expect(named(await at(`${agentId}/funding`))).toEqual([409, 'agent_not_provisioned']);
  });

  it('GET /v1/developer/agents/{agentId}/funding warns of anything that keeps a deposit from being seen or spent', async () => {
    await using alone = await startWorld();
    const developer = await newDeveloper(alone.api, 'warned');
    const agentId = await developer.createAgent('warned');
    const path = `${alone.url}/v1/developer/agents/${agentId}`;
    const { headers } = developer;
    const warnings = async () =>
      ((await ask(`${path}/funding`, { headers })).body.warnings as string[]).join('\n');
    expect(await warnings()).toMatch(/^Deposits are not seen.*no chain node is configured/);
    expect(await warnings()).not.toMatch(/no deposit backs/);
    const credited = await ask(`${alone.url}/v1/admin/agents/${agentId}/credit`, {
      headers: { 'x-admin-key': alone.adminApiKey },
      body: { amountRaw: '700', reference: 'no-deposit' },
    });
    expect(credited.body).toMatchObject({ credited: true });
    expect(await warnings()).toMatch(/0 raw USDC can pay vendors: no deposit backs the rest/);
    const suspend = { method: 'PATCH', headers, body: { status: 'suspended' } };
    await ask(`${path}/status`, suspend);
    expect(await warnings()).toMatch(/suspended/);
    await ask(`${path}/close`, { method: 'POST', headers });
    expect(await warnings()).toMatch(/closed/);
  });
});
