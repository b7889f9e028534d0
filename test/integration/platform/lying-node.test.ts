import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bloomBitsOf, mayHoldLogs } from '../../../src/platform/chain/bloom.ts';
import { booksOf, expectAgreement } from '../../support/chain/books.ts';
import { account } from '../../support/chain/chain.ts';
import { USDC } from '../../support/chain/eip3009.ts';
import {
  type LivePayment,
  openPayments,
  type Payer,
  seedPayers,
} from '../../support/chain/live-payments.ts';
import { type ReconcileWorld, startReconcileWorld } from '../../support/chain/reconcile-world.ts';

/** A node that does not tell what has happened, over the real token and the real database. */

const FUNDS_RAW = 100n;
const VALID_SECONDS = 600;
/** As many as were never credited before there was a second look. */
const DEPOSIT_RAW = 11_000n;

let world: ReconcileWorld;
let payer: Payer;
let payment: LivePayment;

beforeAll(async () => {
  const timestamp = Math.floor(Date.now() / 1_000) - 100_000;
  world = await startReconcileWorld({ timestamp, auditRestMs: 0 });
});
afterAll(() => world[Symbol.asyncDispose]());

beforeEach(async () => {
  const { chain, sql, reader, node, errors, alarms } = world;
  node.mode = { kind: 'up' };
  await chain.mine();
  const ledger = reader.ledger;
  const validBefore = (await chain.head()).timestamp + VALID_SECONDS;
  const [made] = await seedPayers({ chain, sql, ledger }, 1, FUNDS_RAW);
  if (made === undefined) throw new Error('there is no payer');
  payer = made;
  const [opened] = await openPayments(ledger, [payer], 1, validBefore);
  if (opened === undefined) throw new Error('nothing is paid');
  payment = opened;
  await chain.mine();
  await reader.tick();
  await reader.tick();
  errors.splice(0);
  alarms.splice(0);
});

const books = (agentId = payer.agentId) => booksOf(world.sql, agentId);
const agree = () => expectAgreement(world.sql, world.chain);
const deposit = () => world.chain.fundUsdc(payer.wallet, DEPOSIT_RAW);
const take = () => world.chain.submit(payment.transfer, payment.signature);

/** As many readings as a round and the searches that follow it take. */
async function readOn(times = 6): Promise<void> {
  for (let i = 0; i < times; i++) await world.reader.tick();
}

async function cursor(): Promise<number> {
  const [row] = await world.sql<{ block: bigint }[]>`
    select block_number as block from chain_cursors where name = 'base'`;
  return Number(row?.block);
}

describe('a header', () => {
  it('a block header tells whether its block has logs of the token', async () => {
    const bits = await bloomBitsOf(USDC);
    const holds = async () => {
      const block = await world.chain.node.ask<{ logsBloom: string }>(
        ...(['eth_getBlockByNumber', 'latest', false] as const),
      );
      return mayHoldLogs(block.logsBloom, bits);
    };
    await deposit();
    expect(await holds()).toBe(true);
    await world.chain.mine();
    expect(await holds()).toBe(false);
    await readOn();
    await agree();
  });
});

describe('a node that tells no logs of blocks that have some', () => {
  it.each([
    ['none at all', { kind: 'lying', method: 'eth_getLogs', result: [] }],
    ['none of the newest six blocks', { kind: 'cutting', by: 6 }],
  ] as const)(
    'the chain reader does not read past blocks whose logs the node hides: %s',
    async (_, mode) => {
      const { chain, reader, node, alarms } = world;
      node.mode = mode;
      await deposit();
      await chain.mine(3);
      const before = await cursor();
      for (let i = 0; i < 3; i++) await expect(reader.tick()).rejects.toThrow(/\blogs?\b/);
      expect(await cursor()).toBe(before);
      node.mode = { kind: 'up' };
      await reader.tick();
      expect((await books()).walletRaw).toBe(FUNDS_RAW + DEPOSIT_RAW);
      expect(alarms).toEqual([]);
      await agree();
    },
  );
});

describe('a deposit that was never told', () => {
  it('a deposit that the node hid is credited once when the node returns it, by whichever process reads it', async () => {
    const { chain, reader, node, alarms } = world;
    node.mode = { kind: 'lying', method: 'eth_getLogs', result: [] };
    await deposit();
    // The newest headers say that there is nothing, so that nothing can be proved.
    await chain.mine(40);
    await reader.tick();
    expect(await cursor()).toBe((await chain.head()).number);
    expect((await books()).walletRaw).toBe(FUNDS_RAW);
    node.mode = { kind: 'up' };
    const restarted = await world.another('restarted');
    await chain.mine();
    for (let i = 0; i < 3; i++) {
      await Promise.all([restarted.tick(), reader.tick()].map((tick) => tick.catch(() => {})));
    }
    expect((await books()).walletRaw).toBe(FUNDS_RAW + DEPOSIT_RAW);
    expect(alarms).toEqual(['deposit_missed']);
    await readOn();
    expect(alarms).toEqual(['deposit_missed']);
    await agree();
  });

  it('a deposit that the node hides raises an alarm, and is found far back because of the wallet balance', async () => {
    const { chain, node, alarms, errors, sql } = world;
    node.mode = { kind: 'lying', method: 'eth_getLogs', result: [] };
    await deposit();
    await chain.mine(700);
    await readOn();
    expect(alarms).toEqual(['wallet_differs']);
    expect(errors.map(({ msg }) => msg)).toEqual([
      'a wallet holds something else than its book says, and no log explains it',
    ]);
    expect(errors[0]).toMatchObject({ agentId: payer.agentId, differenceRaw: `${DEPOSIT_RAW}` });
    node.mode = { kind: 'up' };
    await sql`update wallet_differences set next_at = now()`;
    await readOn();
    expect((await books()).walletRaw).toBe(FUNDS_RAW + DEPOSIT_RAW);
    expect(alarms).toEqual(['wallet_differs', 'deposit_missed']);
    expect([...(await sql`select agent_id from wallet_differences`)]).toEqual([]);
    await agree();
  });
});

describe('a node that denies everything', () => {
  it('a node that denied blocks has its false release debited and its deposit credited once it is honest again', async () => {
    const { chain, reader, node, sql, alarms } = world;
    const { number: since } = await chain.head();
    node.mode = { kind: 'denying', since };
    await take();
    await deposit();
    await chain.travel(VALID_SECONDS);
    await reader.tick();
    const stateNow = async () => {
      const [row] = await sql<{ state: string; corrected: boolean }[]>`
        select state, corrected_at is not null as corrected from reservations
        where nonce = ${payment.transfer.nonce}`;
      return row;
    };
    expect(await stateNow()).toEqual({ state: 'expired_unsettled', corrected: false });
    // Longer ago than the first reading watches what was released.
    await sql`update reservations set decided_at = now() - interval '2 hours'
      where nonce = ${payment.transfer.nonce}`;
    await readOn();
    expect(alarms).toEqual([]);
    node.mode = { kind: 'up' };
    await chain.mine();
    await readOn();
    expect(await stateNow()).toEqual({ state: 'expired_unsettled', corrected: true });
    expect(await books()).toMatchObject({
      spendableRaw: FUNDS_RAW + DEPOSIT_RAW - 1n,
      heldRaw: 0n,
      promisedRaw: 0n,
      walletRaw: FUNDS_RAW + DEPOSIT_RAW - 1n,
    });
    expect([...alarms].sort()).toEqual(['deposit_missed', 'moved_after_release']);
    await agree();
  });
});

describe('a deposit that the wallet does not hold', () => {
  const due = () => world.sql`update awaited_deposits set next_at = now()`;
  const waiting = async () => [...(await world.sql`select agent_id from awaited_deposits`)];

  it('a deposit that the wallet does not hold waits over restarts, raises one alarm, and is credited once the wallet has it', async () => {
    const { chain, reader, alarms } = world;
    await deposit();
    // The log says that it came; the balance does not.
    await chain.setUsdc(payer.wallet, FUNDS_RAW);
    await reader.tick();
    expect((await books()).walletRaw).toBe(FUNDS_RAW);
    expect(alarms).toEqual(['deposit_not_held']);
    expect(await cursor()).toBe((await chain.head()).number);
    const restarted = await world.another('awaiting');
    for (let i = 0; i < 3; i++) {
      await due();
      await restarted.tick();
    }
    expect((await books()).walletRaw).toBe(FUNDS_RAW);
    expect([alarms, await waiting()]).toEqual([
      ['deposit_not_held'],
      [{ agent_id: payer.agentId }],
    ]);
    await chain.setUsdc(payer.wallet, FUNDS_RAW + DEPOSIT_RAW);
    await chain.mine();
    for (let i = 0; i < 3; i++) {
      await due();
      await Promise.all([restarted.tick(), reader.tick()].map((tick) => tick.catch(() => {})));
    }
    expect((await books()).walletRaw).toBe(FUNDS_RAW + DEPOSIT_RAW);
    expect(await waiting()).toEqual([]);
    await agree();
  });

  it('a deposit after a payment that was carried out is credited at once, without an alarm', async () => {
    const { reader, alarms } = world;
    await take();
    await deposit();
    await reader.tick();
    expect((await books()).walletRaw).toBe(FUNDS_RAW + DEPOSIT_RAW - 1n);
    expect(alarms).toEqual([]);
    await agree();
  });
});

describe('a wallet that nothing explains', () => {
  it('a wallet balance that no log explains raises one alarm, and changes no book', async () => {
    const { chain, alarms, sql } = world;
    await chain.setUsdc(payer.wallet, FUNDS_RAW - 7n);
    await chain.mine();
    const before = await books();
    await readOn(10);
    expect(alarms).toEqual(['wallet_differs']);
    expect(await books()).toEqual(before);
    const [row] = await sql`select difference_raw as raw, told_raw as told from wallet_differences`;
    expect(row).toEqual({ raw: -7n, told: -7n });
    await chain.setUsdc(payer.wallet, FUNDS_RAW);
    await chain.mine();
    await readOn();
    expect([...(await sql`select agent_id from wallet_differences`)]).toEqual([]);
    await agree();
  });
});

describe('what another takes', () => {
  it('transfers between strangers are neither credited nor reported as missing', async () => {
    const { chain, alarms } = world;
    await chain.fundUsdc(account(12).address, 5n);
    await readOn();
    expect(alarms).toEqual([]);
    await agree();
  });
});
