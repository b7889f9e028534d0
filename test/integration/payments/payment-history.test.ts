import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProxyCalls } from '../../../src/payments/reservations/history-store.ts';
import { sumPending } from '../../../src/payments/reservations/reservation-store.ts';
import { reservationDetail } from '../../../src/routes/agents/reservations/detail.ts';
import { listTransactions } from '../../../src/routes/agents/transactions.ts';
import {
  type PayingAgent,
  type PaymentWorld,
  startPaymentWorld,
  until,
} from '../../support/payment-world.ts';
import { rowsReadBy } from '../../support/rows-read.ts';
import { ask, type Told } from '../../support/whole-world.ts';

let bench: PaymentWorld;
beforeAll(async () => {
  bench = await startPaymentWorld();
});
afterAll(() => bench[Symbol.asyncDispose]());

type Row = Readonly<Record<string, unknown>>;

const named = ({ status, body }: Told) => [status, body.error];

const history = (payer: PayingAgent, query = '') => payer.ask(`/v1/agents/transactions${query}`);

const rowsOf = ({ body }: Told) => body.transactions as Row[];

const lookUp = (payer: PayingAgent, nonce: string) =>
  payer.ask(`/v1/agents/reservations/${encodeURIComponent(nonce)}`);

/** The reservation of the last payment that was made at a URL. */
function nonceAt(url: string): string {
  const nonce = bench.vendor.nonces(url).at(-1);
  if (nonce === undefined) throw new Error('nothing was paid there');
  return nonce;
}

const stateOf = async (payer: PayingAgent, nonce: string) =>
  (await lookUp(payer, nonce)).body.state as string;

const reads = (payer: PayingAgent, nonce: string, state: string) =>
  until(
    async () => (await stateOf(payer, nonce)) === state,
    10_000,
    () => `${nonce} as ${state}`,
  );

/** Never taken, and refused: it stays open until the chain is past its time. */
const REFUSED = { paid: { settle: 'never', answer: { kind: 'challenge' } } } as const;

describe('GET /v1/agents/transactions', () => {
  it('GET /v1/agents/transactions lists every call through the proxy, newest first, with the state of its payment', async () => {
    const payer = await bench.payer('with a history');
    const tags = { 'x-svc-task-id': 'T1', 'x-svc-action-id': 'A1' };
    const paid = bench.vendor.sell({ priceRaw: 7_000n });
    expect((await payer.fetch(paid, tags)).status).toBe(200);
    const free = `${bench.vendor.origin}/free`;
    expect((await payer.fetch({ url: free, method: 'post', body: 'x' })).status).toBe(200);
    const refused = bench.vendor.sell({ priceRaw: 9_000n, ...REFUSED });
    expect((await payer.fetch(refused)).status).toBe(402);
    await reads(payer, nonceAt(paid), 'settled');
    await until(async () => rowsOf(await history(payer)).length === 3);
    const told = await history(payer);
    expect(listTransactions.response?.parse(told.body)).toEqual(told.body);
    expect(told.body).toMatchObject({ nextCursor: null, hasMore: false });
    const rows = rowsOf(told);
    const byUrl = (url: string) => rows.find(({ targetUrl }) => targetUrl === url);
    const settled = (await lookUp(payer, nonceAt(paid))).body;
    expect(byUrl(paid)).toMatchObject({
      agentId: payer.agentId,
      method: 'GET',
      status: 'success',
      responseStatusCode: 200,
      paymentAmountRaw: '7000',
      costRaw: '7000',
      x402TxHash: settled.txHash,
      taskId: 't1',
      actionId: 'a1',
      nonce: nonceAt(paid),
      latencyMs: expect.any(Number),
    });
    expect(byUrl(free)).toMatchObject({
      method: 'POST',
      status: 'success',
      responseStatusCode: 200,
      nonce: null,
      paymentAmountRaw: null,
      paymentRecipient: null,
      costRaw: '0',
      x402TxHash: null,
    });
    expect(byUrl(refused)).toMatchObject({
      status: 'pending',
      paymentAmountRaw: '9000',
      costRaw: '9000',
      responseStatusCode: 402,
    });
    expect(rows.map(({ id }) => id)).toEqual(
      rows.map(({ id }) => Number(id)).sort((a, b) => b - a),
    );
    for (const { createdAt, updatedAt } of rows) {
      expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
      expect(String(updatedAt) >= String(createdAt)).toBe(true);
    }
  });

  it('GET /v1/agents/transactions lists free calls at no cost, and counts them as the view of the actions does', async () => {
    const payer = await bench.payer('calls for nothing');
    const tags = { 'x-svc-task-id': 'T2', 'x-svc-action-id': 'Looks Up' };
    const paid = bench.vendor.sell({ priceRaw: 7_000n });
    expect((await payer.fetch(paid, tags)).status).toBe(200);
    const free = { url: `${bench.vendor.origin}/free` };
    for (let i = 0; i < 3; i++) expect((await payer.fetch(free, tags)).status).toBe(200);
    // At once, however the lines are gathered before they are written.
    expect(rowsOf(await history(payer))).toHaveLength(4);
    await reads(payer, nonceAt(paid), 'settled');
    await until(async () => rowsOf(await history(payer)).length === 4);
    const rows = rowsOf(await history(payer));
    const costs = rows.map(({ actionId, status, costRaw }) => [actionId, status, costRaw]);
    expect(costs.sort()).toEqual([
      ...Array.from({ length: 3 }, () => ['looks up', 'success', '0']),
      ['looks up', 'success', '7000'],
    ]);
    const { body } = await payer.askAsOwner('/actions');
    expect(body.actions).toMatchObject([{ actionId: 'looks up', calls: 4, spentRaw: '7000' }]);
  });

  it('GET /v1/agents/transactions is read page by page, has each call on one page, and no call of another agent', async () => {
    const [payer, other] = [await bench.payer('paging', 0n), await bench.payer('beside', 0n)];
    await fillHistory(payer.agentId, 25);
    await fillHistory(other.agentId, 5);
    const seen: unknown[] = [];
    const sizes: number[] = [];
    let query = '?limit=10';
    for (;;) {
      const { body } = await history(payer, query);
      const rows = body.transactions as Row[];
      seen.push(...rows.map(({ id }) => id));
      sizes.push(rows.length);
      expect(body.hasMore).toBe(body.nextCursor !== null);
      if (body.nextCursor === null) break;
      expect(body.nextCursor).toBe(rows.at(-1)?.id);
      query = `?limit=10&cursor=${body.nextCursor}`;
    }
    expect(sizes).toEqual([10, 10, 10, 10, 10]);
    expect(new Set(seen).size).toBe(50);
    expect(seen).toEqual([...seen].sort((a, b) => Number(b) - Number(a)));
  });

  it('GET /v1/agents/transactions has 50 calls by default, and clamps a limit to 1 to 100', async () => {
    const payer = await bench.payer('limits', 0n);
    await fillHistory(payer.agentId, 60);
    const sizeOf = async (query: string) => rowsOf(await history(payer, query)).length;
    expect(await sizeOf('')).toBe(50);
    expect(await sizeOf('?limit=1000')).toBe(100);
    expect(await sizeOf('?limit=0')).toBe(1);
    expect(await sizeOf('?limit=-7')).toBe(1);
    for (const limit of ['x', '1.5', '']) {
      expect(named(await history(payer, `?limit=${limit}`))).toEqual([400, 'Invalid request']);
    }
  });

  it('GET /v1/agents/transactions refuses a cursor that no page returned', async () => {
    const payer = await bench.payer('cursors', 0n);
    for (const cursor of ['', '0', '-1', 'abc', '1.5', '1e3', '9'.repeat(16), '0x10']) {
      expect(named(await history(payer, `?cursor=${cursor}`)), cursor).toEqual([
        400,
        'invalid_cursor',
      ]);
    }
    expect((await history(payer, '?cursor=1')).body).toEqual({
      transactions: [],
      nextCursor: null,
      hasMore: false,
    });
  });

  it('GET /v1/agents/transactions reads no more rows than it returns, however long the history is', async () => {
    const payer = await bench.payer('long', 0n);
    await fillHistory(payer.agentId, 3_000);
    await bench.world.sql`analyze reservations, proxy_passthroughs`;
    const tables = ['reservations', 'proxy_passthroughs'];
    const [middle] = await bench.world.sql<{ id: bigint }[]>`
      select id from reservations where agent_id = ${payer.agentId} order by id offset 1500 limit 1`;
    for (const beforeId of [Number.MAX_SAFE_INTEGER, Number(middle?.id)]) {
      const rows = await rowsReadBy(bench.world.sql, tables, (tx) =>
        findProxyCalls(tx, payer.agentId, { beforeId, limit: 51 }),
      );
      expect(rows).toBeLessThanOrEqual(2 * 51);
    }
  });
});

describe('GET /v1/agents/reservations/{nonce}', () => {
  it('GET /v1/agents/reservations/{nonce} finds a payment by its nonce in any spelling, from its start to its end', async () => {
    const payer = await bench.payer('looking');
    const url = bench.vendor.sell({ priceRaw: 5_000n });
    expect((await payer.fetch(url)).status).toBe(200);
    const nonce = nonceAt(url);
    await reads(payer, nonce, 'settled');
    const told = await lookUp(payer, nonce);
    expect(reservationDetail.response?.parse(told.body)).toEqual(told.body);
    expect(told.body).toMatchObject({
      nonce,
      state: 'settled',
      terminal: true,
      paymentAmountRaw: '5000',
      txHash: bench.vendor.settlements.find((each) => each.nonce === nonce)?.hash,
      settledAt: expect.stringMatching(/Z$/),
    });
    const upper = `0x${nonce.slice(2).toUpperCase()}`;
    expect((await lookUp(payer, upper)).body).toEqual(told.body);
    const escaped = [...nonce].map((each) => `%${each.charCodeAt(0).toString(16)}`).join('');
    expect((await payer.ask(`/v1/agents/reservations/${escaped}`)).body).toEqual(told.body);
  });

  it('GET /v1/agents/reservations/{nonce} is 404 for a nonce of another agent, an unknown one, and an invalid one', async () => {
    const payer = await bench.payer('owning');
    const url = bench.vendor.sell();
    await payer.fetch(url);
    const stranger = await bench.payer('a stranger', 0n);
    const nonce = nonceAt(url);
    const odd = ['0x', '0', 'abc', nonce.slice(2), `${nonce}00`, `0x${'g'.repeat(64)}`, "' or 1=1"];
    for (const wrong of [`0x${'00'.repeat(32)}`, ...odd]) {
      expect(named(await lookUp(payer, wrong)), wrong).toEqual([404, 'not_found']);
    }
    expect(named(await lookUp(stranger, nonce))).toEqual([404, 'not_found']);
    expect((await lookUp(payer, nonce)).status).toBe(200);
  });

  it('GET /v1/agents/reservations/{nonce} is open to a closed agent, whose last payment may end after the closing', async () => {
    const payer = await bench.payer('closing');
    const url = bench.vendor.sell(REFUSED);
    await payer.fetch(url);
    const { url: at, adminApiKey } = bench.world;
    await ask(`${at}/v1/admin/agents/${payer.agentId}/close`, {
      method: 'POST',
      headers: { 'x-admin-key': adminApiKey },
    });
    const told = await lookUp(payer, nonceAt(url));
    expect([told.status, told.body]).toMatchObject([200, { terminal: false }]);
    expect(await history(payer)).toMatchObject({
      status: 200,
      body: { transactions: [{ status: 'pending' }] },
    });
  });
});

describe('what is on its way', () => {
  it("pending payments are in the balance until the chain decides, and the wallet's balance is the chain's", async () => {
    const payer = await bench.payer('waiting', 50_000n);
    const balance = async () => (await payer.ask('/v1/agents/balance')).body;
    const url = bench.vendor.sell({ priceRaw: 8_000n, ...REFUSED });
    expect((await payer.fetch(url)).status).toBe(402);
    await reads(payer, nonceAt(url), 'pending_settlement');
    expect(await balance()).toMatchObject({
      pendingSettlementsRaw: '8000',
      pendingSettlements: '8000',
      spendableRaw: '42000',
      balance: '42000',
      walletUsdcRaw: '50000',
    });
    await bench.chain.travel(100);
    await reads(payer, nonceAt(url), 'payment_rejected');
    expect(await balance()).toMatchObject({
      pendingSettlementsRaw: '0',
      pendingSettlements: '0',
      spendableRaw: '50000',
    });
    await until(async () => {
      const [row] = rowsOf(await history(payer));
      return row?.status === 'failed' && row.costRaw === '0';
    });
  });

  it('the sum of pending payments reads no row of an ended payment', async () => {
    const payer = await bench.payer('much ended', 0n);
    await fillHistory(payer.agentId, 2_000);
    const { sql } = bench.world;
    await sql`update reservations set state = 'pending_settlement' where nonce in (
      select nonce from reservations where agent_id = ${payer.agentId} order by id limit 3)`;
    await sql`analyze reservations`;
    let sumRaw = 0n;
    const rows = await rowsReadBy(sql, ['reservations'], async (tx) => {
      sumRaw = await sumPending(tx, payer.agentId);
    });
    expect([sumRaw, rows]).toEqual([3n, 3]);
    await sql`delete from reservations where agent_id = ${payer.agentId}`;
  });
});

/** As many settled payments of a raw unit as free calls, in turn. */
async function fillHistory(agentId: number, each: number): Promise<void> {
  const { sql } = bench.world;
  const wallet = `0x${'00'.repeat(20)}`;
  for (let done = 0; done < each; done += 1_000) {
    const count = Math.min(1_000, each - done);
    await sql`
      insert into reservations (nonce, hold_id, agent_id, wallet, payee, value_raw, valid_before, signature,
        x402_version, network, target_url, target_host, method, state, decided_at)
      select '0x' || lpad(to_hex(${agentId}::bigint * 1000000 + ${done} + n), 64, '0'),
        'filled ' || ${agentId} || ' ' || (${done} + n), ${agentId}, ${wallet}, ${wallet}, 1, 1, '0x', 2,
        'eip155:8453', 'https://vendor.example/', 'vendor.example', 'GET', 'settled', now() - interval '1 day'
      from generate_series(1, ${count}::int) as n`;
    await sql`
      insert into proxy_passthroughs (agent_id, target_url, method, response_status_code, latency_ms)
      select ${agentId}, 'https://vendor.example/', 'GET', 200, 1 from generate_series(1, ${count}::int)`;
  }
}
