import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { createCashOuts } from '../../src/payments/cash-outs/cash-outs.ts';
import { createOnramp } from '../../src/payments/ramp/onramp.ts';
import { createTransfers } from '../../src/payments/transfers/transfers.ts';
import { eventually, expectAgreement, ledgerBeside } from '../support/chain/books.ts';
import { USDC } from '../support/chain/eip3009.ts';
import type { PayingDeveloper, WalletAgent } from '../support/chain/paying-server.ts';
import { startTransferWorld, type TransferWorld } from '../support/transfer-world.ts';

/** Purchases and cash-outs over HTTP, on a chain, at a provider that verifies every credential. */

let world: TransferWorld;
let owner: PayingDeveloper;
let stranger: PayingDeveloper;
let other: WalletAgent;
let foreign: WalletAgent;

beforeAll(async () => {
  world = await startTransferWorld();
  [owner, stranger] = [await world.developer(), await world.developer()];
  other = await world.funded(owner, 1_000_000n);
  foreign = await stranger.createAgent();
});
afterAll(() => world[Symbol.asyncDispose]());

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const start = (body: object) => world.ask(owner, 'POST /v1/offramp/start', body);
const readOrder = async (ref: unknown) =>
  (await world.ask(owner, `GET /v1/offramp/orders/${ref}`)).body as {
    order: Record<string, unknown>;
    sessionToken: string | null;
    payUrl: string | null;
  };
const makeOrdersDue = () => world.db.sql`update cash_outs set next_at = now()`;
const orderIs = (ref: unknown) =>
  eventually(async () => {
    await makeOrdersDue();
    const [row] = await world.db.sql`select state from cash_outs where ref = ${String(ref)}`;
    return row?.state;
  });

describe('the ramp', () => {
  it('a purchase opens with a token for the developer’s own wallet', async () => {
    const open = (body: object) => world.ask(owner, 'POST /v1/onramp/session-token', body);
    const body = {
      destinationKind: 'external',
      destinationAddress: owner.owner.address,
      agentId: other.agentId,
    };
    const opened = await open({ ...body, presetFiatAmount: 50 });
    expect(opened).toEqual({
      status: 200,
      body: {
        sessionToken: expect.stringMatching(/^token-/),
        channelId: '',
        correlationId: expect.stringMatching(UUID),
        onrampId: opened.body.correlationId,
        mode: 'hosted',
        nonCustodialAddress: owner.owner.address,
        agentWalletAddress: other.wallet,
      },
    });
    expect(world.peer.seen.at(-1)?.body).toMatchObject({ clientIp: '127.0.0.1' });
    const refusals = [
      [{ destinationAddress: stranger.owner.address }, 403, 'foreign_destination'],
      [{ destinationAddress: other.wallet }, 403, 'custodial_destination'],
      [{ agentId: foreign.agentId }, 404, 'not_found'],
      [{ agentId: null }, 400, 'invalid_request'],
      [{ presetFiatAmount: 100_001 }, 400, 'Invalid request'],
      [{ destinationKind: 'bank' }, 400, 'Invalid request'],
    ] as const;
    for (const [change, status, error] of refusals) {
      expect(await open({ ...body, ...change })).toMatchObject({ status, body: { error } });
    }
    const spoofed = { headers: { ...owner.headers, 'x-forwarded-for': '198.51.100.7' } };
    await world.ask(spoofed, 'POST /v1/onramp/session-token', body);
    expect(world.peer.seen.at(-1)?.body).toMatchObject({ clientIp: '127.0.0.1' });
    const { body: listed } = await world.ask(owner, 'GET /v1/onramp/sessions');
    expect(listed.sessions).toHaveLength(2);
    expect(listed.sessions).toContainEqual({
      id: opened.body.onrampId,
      status: 'created',
      sweepStatus: 'none',
      mode: 'hosted',
      fiatAmount: '50',
      cryptoAmount: null,
      createdAt: expect.any(String),
    });
    const geo = await world.ask(owner, 'GET /v1/onramp/geo');
    expect(geo.body).toEqual({ country: null, mode: 'hosted' });
  });

  it('a cash-out pays the developer first, then follows the sale to its end', async () => {
    const source = { sourceKind: 'agent_wallet', agentId: other.agentId, amountRaw: '300000' };
    const before = await world.chain.usdcOf(owner.owner.address);
    const { body } = await start(source);
    const { ref } = body.order as { ref: string };
    expect(body).toMatchObject({
      order: {
        status: expect.stringMatching(/^leg1_pending|awaiting_form$/),
        agentWalletAddress: other.wallet,
        devEoaAddress: owner.owner.address,
        requestedAmountRaw: '300000',
        leg1TransferId: expect.stringMatching(UUID),
        asset: 'USDC',
        chain: 'base',
      },
      sessionToken: null,
      payUrl: null,
    });
    const early = await world.ask(owner, `POST /v1/offramp/orders/${ref}/tx`, {
      txHash: `0x${'1'.repeat(64)}`,
    });
    expect(early).toMatchObject({ status: 409, body: { error: 'wrong_status' } });
    await orderIs(ref).toBe('awaiting_form');
    expect(await world.chain.usdcOf(owner.owner.address)).toBe(before + 300_000n);
    const read = await readOrder(ref);
    expect(read.payUrl).toContain(`sessionToken=${read.sessionToken}&partnerUserRef=${ref}`);
    const sale = {
      transaction_id: 's-9',
      asset: 'USDC',
      network: 'base',
      to_address: `0x${'D1'.repeat(20)}`,
    };
    world.peer.sales.set(ref, [{ ...sale, status: 'TRANSACTION_STATUS_STARTED' }]);
    await orderIs(ref).toBe('awaiting_send');
    expect((await readOrder(ref)).order).toMatchObject({
      cdpDepositAddress: `0x${'d1'.repeat(20)}`,
      cdpTransactionId: 's-9',
    });
    const txHash = `0x${'2'.repeat(64)}`;
    const sent = await world.ask(owner, `POST /v1/offramp/orders/${ref}/tx`, { txHash });
    expect(sent.body).toMatchObject({ order: { status: 'sent', leg2TxHash: txHash } });
    const late = await world.ask(owner, `POST /v1/offramp/orders/${ref}/cancel`);
    expect(late).toMatchObject({ status: 409, body: { error: 'wrong_status', status: 'sent' } });
    world.peer.sales.set(ref, [{ ...sale, status: 'TRANSACTION_STATUS_STARTED', tx_hash: txHash }]);
    await orderIs(ref).toBe('processing');
    const sold = {
      sell_amount: { value: '0.3', currency: 'USDC' },
      total: { value: '0.29', currency: 'USD' },
    };
    world.peer.sales.set(ref, [{ ...sale, ...sold, status: 'TRANSACTION_STATUS_SUCCESS' }]);
    await orderIs(ref).toBe('completed');
    expect((await readOrder(ref)).order).toMatchObject({
      finalAmountRaw: '300000',
      fiatEstimate: '0.29 USD',
    });
    await expectAgreement(world.db.sql, world.chain);
  });

  it('a cash-out from the developer’s wallet waits for the form at once, and can be cancelled once', async () => {
    const source = { sourceKind: 'embedded_wallet', agentId: other.agentId, amountRaw: '100000' };
    const { body } = await start(source);
    const { ref } = body.order as { ref: string };
    expect(body).toMatchObject({
      order: { status: 'awaiting_form', leg1TransferId: null },
      sessionToken: expect.stringMatching(/^token-/),
    });
    const cancel = (who = owner) => world.ask(who, `POST /v1/offramp/orders/${ref}/cancel`);
    expect(await cancel(stranger)).toMatchObject({ status: 404, body: { error: 'not_found' } });
    expect(await cancel()).toMatchObject({ status: 200, body: { order: { status: 'cancelled' } } });
    expect(await cancel()).toMatchObject({ status: 409, body: { error: 'wrong_status' } });
    const list = (query: string) => world.ask(owner, `GET /v1/offramp/orders${query}`);
    const first = (await list('?limit=1')).body as {
      orders: { ref: string }[];
      nextCursor: number;
    };
    expect(first.orders.map((order) => order.ref)).toEqual([ref]);
    const second = (await list(`?limit=1&cursor=${first.nextCursor}`)).body;
    expect(second).toMatchObject({ orders: [{ status: 'completed' }], nextCursor: null });
    expect(await list('?cursor=x')).toMatchObject({
      status: 400,
      body: { error: 'invalid_cursor' },
    });
    const tooMuch = await start({ ...source, sourceKind: 'agent_wallet', amountRaw: '999999999' });
    expect(tooMuch).toMatchObject({ status: 400, body: { error: 'withdrawal_exceeds_available' } });
  });

  it('an order that cannot be opened at the provider is not kept', async () => {
    const count = () => world.db.sql`select count(*) from cash_outs`;
    const before = await count();
    world.peer.answer = { status: 503, text: 'busy' };
    const source = { sourceKind: 'embedded_wallet', agentId: other.agentId, amountRaw: '1' };
    expect(await start(source)).toMatchObject({
      status: 502,
      body: { error: 'onramp_unavailable' },
    });
    world.peer.answer = undefined;
    expect(await count()).toEqual(before);
  });

  it('a server without a provider and a chain says so, after the request and its agent were checked', async () => {
    const { sql } = world.db;
    await using ledger = await ledgerBeside(sql);
    const deps = {
      sql,
      ledger,
      random: systemRandom,
      log: silentLog,
      spendState: { read: async () => undefined },
      balances: { lastKnown: async () => null },
      payouts: { payNow: async () => {} },
      canPay: false,
      view: undefined,
      terms: { usdc: USDC, chainId: 8_453 },
      ramp: undefined,
    };
    const [row] = await sql<{ account: string }[]>`
      select account_id as account from agents where id = ${other.agentId}`;
    const accountId = row?.account ?? '';
    const visitor = { accountId, clientIp: '203.0.113.9', mayAct: true };
    const transfer = { direction: 'from_agent', agentId: other.agentId, amountRaw: 1n } as const;
    const order = { sourceKind: 'agent_wallet', agentId: other.agentId, amountRaw: 1n } as const;
    const purchase = {
      destinationAddress: owner.owner.address,
      destinationScope: 'agent',
      agentId: other.agentId,
    } as const;
    const { agentId } = foreign;
    const [transfers, cashOuts, onramp] = [
      createTransfers(deps),
      createCashOuts(deps),
      createOnramp(deps),
    ];
    const refusals = [
      [() => transfers.prepare(accountId, { ...transfer, agentId }), 404, 'not_found'],
      [() => transfers.prepare(accountId, transfer), 503, 'transfers_unavailable'],
      [() => cashOuts.start(visitor, { ...order, agentId }), 404, 'not_found'],
      [() => cashOuts.start(visitor, order), 503, 'onramp_not_configured'],
      [() => onramp.open(visitor, { ...purchase, agentId }), 404, 'not_found'],
      [() => onramp.open(visitor, purchase), 503, 'onramp_not_configured'],
    ] as const;
    for (const [ask, status, error] of refusals) {
      await expect(ask()).rejects.toMatchObject({ status, error });
    }
  });
});
