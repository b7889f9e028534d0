import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer } from '../../src/app/commands/demo/api.ts';
import { moveTransfer } from '../../src/payments/transfers/transfer-store.ts';
import {
  booksOf,
  eventually,
  eventuallyTold,
  expectAgreement,
  payoutsOf,
} from '../support/chain/books.ts';
import { USDC } from '../support/chain/eip3009.ts';
import type { PayingDeveloper, WalletAgent } from '../support/chain/paying-server.ts';
import { startTransferWorld, type TransferWorld } from '../support/transfer-world.ts';

/** Money between a developer and its agents: transfers, purchases and cash-outs, over HTTP, on a chain. */

let world: TransferWorld;
let owner: PayingDeveloper;
let stranger: PayingDeveloper;
let agent: WalletAgent;
let other: WalletAgent;
let foreign: WalletAgent;

beforeAll(async () => {
  world = await startTransferWorld({ WELCOME_CREDIT_ENABLED: '1' });
  [owner, stranger] = [await world.developer(), await world.developer()];
  agent = await world.funded(owner, 5_000_000n);
  [other, foreign] = [await owner.createAgent(), await stranger.createAgent()];
});
afterAll(() => world[Symbol.asyncDispose]());

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const HASH = /^0x[0-9a-f]{64}$/;
const WELCOME = 3_000_000n;
const prepare = (body: object, who = owner) => world.ask(who, 'POST /v1/transfers/prepare', body);
const execute = (id: unknown, who = owner) => world.ask(who, `POST /v1/transfers/${id}/execute`);

describe('transfers', () => {
  it('a transfer from an agent pays its developer once, however often it is executed', async () => {
    const body = { direction: 'from_agent', agentId: agent.agentId, amountRaw: '1000000' };
    const prepared = await prepare(body);
    expect(prepared).toEqual({
      status: 200,
      body: {
        transferId: expect.stringMatching(UUID),
        direction: 'from_agent',
        signerKind: 'managed_server',
        fromAddress: agent.wallet,
        toAddress: owner.owner.address,
        amountRaw: '1000000',
        availableRaw: '5000000',
        nextAction: 'execute',
      },
    });
    const { transferId } = prepared.body;
    const answers = await Promise.all([
      execute(transferId),
      execute(transferId),
      execute(transferId),
    ]);
    for (const { status, body: answer } of answers) {
      expect(status).toBe(200);
      expect(answer).toMatchObject({ transferId });
      expect(['executing', 'submitted', 'completed']).toContain(answer.status);
    }
    await eventuallyTold(async () => (await execute(transferId)).body).toEqual({
      transferId,
      status: 'completed',
      txHash: expect.stringMatching(HASH),
    });
    expect(await world.chain.transferLogs({ from: agent.wallet })).toHaveLength(1);
    expect(await world.chain.usdcOf(owner.owner.address)).toBe(1_000_000n);
    expect(await payoutsOf(world.db.sql, agent.agentId)).toMatchObject([{ kind: 'transfer' }]);
    await expectAgreement(world.db.sql, world.chain);
  });

  it('a transfer between agents is credited once, when the chain shows it', async () => {
    const before = await booksOf(world.db.sql, agent.agentId);
    const { agentId } = agent;
    const ids = { agentId, toAgentId: other.agentId };
    const body = { direction: 'agent_to_agent', ...ids, amountRaw: '750000' };
    const prepared = await prepare(body);
    expect(prepared.body).toMatchObject({ toAddress: other.wallet, signerKind: 'managed_server' });
    await execute(prepared.body.transferId);
    await eventually(() => booksOf(world.db.sql, other.agentId)).toMatchObject({
      spendableRaw: 750_000n,
      walletRaw: 750_000n,
    });
    await eventually(async () => (await booksOf(world.db.sql, agentId)).promisedRaw).toBe(0n);
    expect(await booksOf(world.db.sql, agentId)).toMatchObject({
      spendableRaw: before.spendableRaw - 750_000n,
      walletRaw: before.walletRaw - 750_000n,
    });
    await expectAgreement(world.db.sql, world.chain);
  });

  it('a transfer to an agent is signed by the developer, and the chain alone credits it', async () => {
    const before = await booksOf(world.db.sql, other.agentId);
    const body = { direction: 'to_agent', agentId: other.agentId, amountRaw: '200000' };
    const prepared = await prepare(body);
    const { transferId } = prepared.body;
    expect(prepared.body).toEqual({
      transferId: expect.stringMatching(UUID),
      direction: 'to_agent',
      signerKind: 'external_eoa',
      fromAddress: owner.owner.address,
      toAddress: other.wallet,
      amountRaw: '200000',
      availableRaw: '1000000',
      chainId: 8453,
      to: USDC,
      data: `0xa9059cbb${other.wallet.slice(2).padStart(64, '0')}${(200_000).toString(16).padStart(64, '0')}`,
      value: '0',
    });
    const confirm = (txHash: string) =>
      world.ask(owner, `POST /v1/transfers/${transferId}/confirm`, { txHash });
    const wrong = await world.sendFrom(owner.owner.address, other.wallet, 1n);
    expect(await confirm(wrong)).toMatchObject({
      status: 400,
      body: { error: 'transaction_mismatch' },
    });
    expect(await confirm(`0x${'ab'.repeat(32)}`)).toMatchObject({ body: { status: 'submitted' } });
    const late = {
      id: String(transferId),
      from: 'submitted',
      to: 'failed',
      txHash: wrong,
    } as const;
    expect(await moveTransfer(world.db.sql, late)).toBe(false);
    const txHash = await world.sendFrom(owner.owner.address, other.wallet, 200_000n);
    expect(await confirm(txHash)).toEqual({
      status: 200,
      body: { transferId, status: 'completed', txHash },
    });
    expect(await confirm(txHash)).toMatchObject({ body: { status: 'completed' } });
    await eventually(async () => (await booksOf(world.db.sql, other.agentId)).walletRaw).toBe(
      before.walletRaw + 200_001n,
    );
    const again = await prepare(body);
    const path = `POST /v1/transfers/${again.body.transferId}/confirm` as const;
    expect(await world.ask(owner, path, { txHash })).toMatchObject({
      status: 409,
      body: { error: 'transaction_used' },
    });
    await expectAgreement(world.db.sql, world.chain);
  });

  it('transfers are listed newest first, of one agent or of all', async () => {
    const { body } = await world.ask(owner, `GET /v1/transfers?agentId=${other.agentId}&limit=1`);
    expect(body).toEqual({
      transfers: [
        {
          id: expect.stringMatching(UUID),
          agentId: other.agentId,
          counterpartyAgentId: null,
          direction: 'to_agent',
          fromAddress: owner.owner.address,
          toAddress: other.wallet,
          amountRaw: '200000',
          status: 'prepared',
          txHash: null,
          failureReason: null,
          createdAt: expect.any(String),
        },
      ],
    });
    const { body: all } = await world.ask(owner, 'GET /v1/transfers?limit=1000');
    expect((all.transfers as { direction: string }[]).map(({ direction }) => direction)).toEqual([
      'to_agent',
      'to_agent',
      'agent_to_agent',
      'from_agent',
    ]);
    expect((await world.ask(stranger, 'GET /v1/transfers')).body).toEqual({ transfers: [] });
  });

  it('the first agent of an account has a welcome credit, which is never withdrawn', async () => {
    const books = await booksOf(world.db.sql, foreign.agentId);
    expect(books).toMatchObject({ spendableRaw: WELCOME, walletRaw: 0n });
    expect((await booksOf(world.db.sql, agent.agentId)).spendableRaw).toBe(
      (await booksOf(world.db.sql, agent.agentId)).walletRaw + WELCOME,
    );
    const body = { direction: 'from_agent', agentId: foreign.agentId, amountRaw: '1' };
    expect(await prepare(body, stranger)).toMatchObject({
      status: 400,
      body: { error: 'withdrawal_exceeds_user_balance', withdrawableRaw: '0' },
    });
    const second = await stranger.createAgent();
    expect((await booksOf(world.db.sql, second.agentId)).spendableRaw).toBe(0n);
  });
});

describe('bad transfers', () => {
  const ZERO = `0x${'0'.repeat(40)}`;
  const MINE = () => ({ agentId: agent.agentId, amountRaw: '1' });
  type Case = [string, () => object, number, string];
  const cases: Case[] = [
    [
      'to the zero address',
      () => ({ direction: 'embedded_to_external', toAddress: ZERO }),
      400,
      'invalid_destination',
    ],
    [
      'to the token',
      () => ({ direction: 'embedded_to_external', toAddress: USDC }),
      400,
      'invalid_destination',
    ],
    [
      'from a wallet to itself',
      () => ({ direction: 'embedded_to_external', toAddress: owner.owner.address }),
      400,
      'invalid_destination',
    ],
    [
      'from an agent to itself',
      () => ({ direction: 'agent_to_agent', toAgentId: agent.agentId }),
      400,
      'invalid_destination',
    ],
    [
      'to somebody else’s wallet',
      () => ({ direction: 'from_agent', toAddress: stranger.owner.address }),
      400,
      'invalid_destination',
    ],
    ['of 0', () => ({ direction: 'from_agent', amountRaw: '0' }), 400, 'Invalid request'],
    [
      'of less than 0',
      () => ({ direction: 'from_agent', amountRaw: '-5' }),
      400,
      'Invalid request',
    ],
    [
      'of half a unit',
      () => ({ direction: 'from_agent', amountRaw: '0.5' }),
      400,
      'Invalid request',
    ],
    [
      'of more than deposits back',
      () => ({ direction: 'from_agent', amountRaw: '6000000' }),
      400,
      'withdrawal_exceeds_user_balance',
    ],
    [
      'of more than the balance',
      () => ({ direction: 'from_agent', amountRaw: '9000000' }),
      400,
      'withdrawal_exceeds_available',
    ],
    [
      'of more than the developer has',
      () => ({ direction: 'to_agent', amountRaw: '900000000' }),
      400,
      'withdrawal_exceeds_available',
    ],
    ['without the other agent', () => ({ direction: 'agent_to_agent' }), 400, 'invalid_request'],
    ['without an address', () => ({ direction: 'embedded_to_external' }), 400, 'invalid_request'],
    [
      'to no address',
      () => ({ direction: 'embedded_to_external', toAddress: '0x12' }),
      400,
      'Invalid request',
    ],
    ['in no direction', () => ({ direction: 'sideways' }), 400, 'Invalid request'],
    [
      'of another account’s agent',
      () => ({ direction: 'from_agent', agentId: foreign.agentId }),
      404,
      'not_found',
    ],
    [
      'to another account’s agent',
      () => ({ direction: 'agent_to_agent', toAgentId: foreign.agentId }),
      404,
      'not_found',
    ],
    [
      'of an unknown session',
      () => ({ direction: 'to_agent', onrampId: '00000000-0000-4000-8000-000000000000' }),
      404,
      'not_found',
    ],
  ];

  it.each(cases)(
    'a transfer %s is refused with a code and a sentence, and nothing changes',
    async (_, body, status, error) => {
      const rows = () =>
        world.db
          .sql`select (select count(*) from transfers) as t, (select count(*) from payouts) as p`;
      const before = await rows();
      const told = await prepare({ ...MINE(), ...body() });
      expect(told).toMatchObject({ status, body: { error } });
      if (error !== 'Invalid request') expect(String(told.body.message)).toMatch(/^.+\.$/);
      expect(await rows()).toEqual(before);
    },
  );

  it('a transfer is executed and confirmed by its own account alone, in its own way, and in time', async () => {
    const out = (await prepare({ ...MINE(), direction: 'from_agent' })).body.transferId;
    const into = (await prepare({ ...MINE(), direction: 'to_agent' })).body.transferId;
    const txHash = `0x${'cd'.repeat(32)}`;
    const confirm = (id: unknown, who = owner) =>
      world.ask(who, `POST /v1/transfers/${id}/confirm`, { txHash });
    const refusals = [
      [await execute(out, stranger), 404, 'not_found'],
      [await confirm(into, stranger), 404, 'not_found'],
      [await execute('00000000-0000-4000-8000-000000000000'), 404, 'not_found'],
      [await execute('1'), 400, 'Invalid request'],
      [await execute(into), 409, 'wrong_flow'],
      [await confirm(out), 409, 'wrong_flow'],
      [
        await world.ask(owner, `POST /v1/transfers/${into}/confirm`, { txHash: '0x1' }),
        400,
        'Invalid request',
      ],
      [
        await world.ask({ headers: bearer(agent.agentKey) }, `POST /v1/transfers/${out}/execute`),
        401,
        'developer_credential_required',
      ],
    ] as const;
    for (const [told, status, error] of refusals)
      expect(told).toMatchObject({ status, body: { error } });
    await world.db
      .sql`update transfers set expires_at = now() - interval '1 second' where id in ${world.db.sql([String(out), String(into)])}`;
    for (const told of [await execute(out), await confirm(into)]) {
      expect(told).toMatchObject({
        status: 409,
        body: { error: 'transfer_over', status: 'expired' },
      });
    }
    expect(await payoutsOf(world.db.sql, agent.agentId)).toHaveLength(2);
  });

  it('a transfer that the balance no longer covers is refused when it is executed', async () => {
    const rest = async () => (await booksOf(world.db.sql, agent.agentId)).walletRaw;
    const amountRaw = String(await rest());
    const body = { direction: 'from_agent', agentId: agent.agentId, amountRaw };
    const [first, second] = [await prepare(body), await prepare(body)];
    const told = await Promise.all([
      execute(first.body.transferId),
      execute(second.body.transferId),
    ]);
    expect(told.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(told.find(({ status }) => status === 409)).toMatchObject({
      body: { error: 'Insufficient balance', availableRaw: '0' },
    });
    await eventually(rest).toBe(0n);
    await expectAgreement(world.db.sql, world.chain);
  });

  it('the hundred and first open transfer of an account is refused', async () => {
    const agentId = foreign.agentId;
    await world.db.sql`
      insert into transfers (id, account_id, direction, agent_id, from_address, to_address, amount_raw, expires_at)
      select 'filler ' || n, a.account_id, 'to_agent', a.id, 'f', 't', 1, now() + interval '1 hour'
      from agents a, generate_series(1, 100) n where a.id = ${agentId}`;
    await world.chain.fundUsdc(stranger.owner.address, 10n);
    const told = await prepare({ direction: 'to_agent', agentId, amountRaw: '1' }, stranger);
    expect(told).toMatchObject({ status: 409, body: { error: 'transfer_limit', max: 100 } });
  });
});
