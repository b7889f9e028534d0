import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { booksOf, expectAgreement } from '../../support/chain/books.ts';
import { account } from '../../support/chain/chain.ts';
import {
  type LivePayment,
  openPayments,
  type Payer,
  seedPayers,
} from '../../support/chain/live-payments.ts';
import { type ReconcileWorld, startReconcileWorld } from '../../support/chain/reconcile-world.ts';
import { transferRequest } from '../../support/chain/usdc.ts';
import { DESTINATION } from '../../support/spending.ts';

const FUNDS_RAW = 100n;
const VALID_SECONDS = 600;
const HELD = { spendableRaw: 99n, heldRaw: 1n, walletRaw: 100n, promisedRaw: 1n };
const PAID = { spendableRaw: 99n, heldRaw: 0n, walletRaw: 99n, promisedRaw: 0n };
const RELEASED = { spendableRaw: 100n, heldRaw: 0n, walletRaw: 100n, promisedRaw: 0n };

let world: ReconcileWorld;
let payer: Payer;
let payment: LivePayment;

beforeAll(async () => {
  // Its clock is behind ours from the first block on.
  world = await startReconcileWorld({ timestamp: Math.floor(Date.now() / 1_000) - 100_000 });
});
afterAll(() => world[Symbol.asyncDispose]());

/** One payment of an agent of its own, signed and held, that the vendor has not submitted yet. */
beforeEach(async () => {
  const { chain, sql, reader, node, errors } = world;
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
  await reader.tick();
  errors.splice(0);
});

const take = () => world.chain.submit(payment.transfer, payment.signature);
const books = () => booksOf(world.sql, payer.agentId);
const agree = () => expectAgreement(world.sql, world.chain);
const told = () => world.errors.map(({ msg }) => msg);

async function stateNow(): Promise<string | undefined> {
  const [row] = await world.sql<{ state: string }[]>`
    select state from reservations where nonce = ${payment.transfer.nonce}`;
  return row?.state;
}

describe('a payment whose time is over by our clock', () => {
  it('a payment that expired by our clock is not released while the clock of the chain is stopped or behind', async () => {
    const { chain, reader } = world;
    expect(payment.transfer.validBefore).toBeLessThan(BigInt(Math.floor(Date.now() / 1_000)));
    await chain.mine(3);
    await reader.tick();
    await chain.travel(VALID_SECONDS - 30);
    await reader.tick();
    expect(await books()).toMatchObject(HELD);
    await take();
    await reader.tick();
    expect([await stateNow(), await books()]).toMatchObject(['settled', PAID]);
    await agree();
  });
});

describe('a node that does not tell everything', () => {
  it("the reconciler releases nothing while a node's state and logs are behind its blocks", async () => {
    const { chain, reader, node } = world;
    const { number: head } = await chain.head();
    await take();
    await chain.travel(VALID_SECONDS);
    node.mode = { kind: 'lagging', head, of: 'state' };
    await expect(reader.tick()).rejects.toThrow();
    expect(await books()).toMatchObject(HELD);
    node.mode = { kind: 'up' };
    await reader.tick();
    expect([await stateNow(), await books()]).toMatchObject(['settled', PAID]);
    await agree();
  });

  it('the reconciler loses no payment when a node returns no logs for a while', async () => {
    const { chain, reader, node } = world;
    await take();
    await chain.travel(VALID_SECONDS);
    node.mode = { kind: 'failing', methods: ['eth_getLogs'] };
    for (let i = 0; i < 3; i++) await expect(reader.tick()).rejects.toThrow();
    expect(await books()).toMatchObject(HELD);
    node.mode = { kind: 'up' };
    await reader.tick();
    expect([await stateNow(), await books()]).toMatchObject(['settled', PAID]);
    await agree();
  });

  it('the reconciler releases nothing when a node returns no state', async () => {
    const { chain, reader, node } = world;
    await chain.travel(VALID_SECONDS);
    node.mode = { kind: 'failing', methods: ['eth_call'] };
    await expect(reader.tick()).rejects.toThrow();
    expect(await books()).toMatchObject(HELD);
    node.mode = { kind: 'lying', method: 'eth_call', result: '0x' };
    await reader.tick();
    expect(await books()).toMatchObject(HELD);
    node.mode = { kind: 'up' };
    await reader.tick();
    expect([await stateNow(), await books()]).toMatchObject(['expired_unsettled', RELEASED]);
    await agree();
  });
});

describe('a reorganisation below what was believed', () => {
  it('a chain reorganisation that moves a payment to another block does not debit the payment twice', async () => {
    const { chain, reader } = world;
    await take();
    await chain.mine();
    await reader.tick();
    const how = { form: 'bytes', from: account(5).address } as const;
    const request = transferRequest(payment.transfer, payment.signature, how);
    await chain.reorg(2, [{ request, block: 1 }]);
    await chain.mine();
    await reader.tick();
    await reader.tick();
    expect(told()).toEqual([expect.stringContaining('the chain was reorganised')]);
    expect([await stateNow(), await books()]).toMatchObject(['settled', PAID]);
    await agree();
  });

  it('a chain reorganisation that makes a payment impossible credits the payment again, once', async () => {
    const { chain, reader } = world;
    await take();
    await reader.tick();
    expect(await books()).toMatchObject(PAID);
    await chain.reorg(1);
    await chain.mine();
    await reader.tick();
    // It may come back.
    expect(await books()).toMatchObject(PAID);
    await chain.travel(VALID_SECONDS);
    await reader.tick();
    await reader.tick();
    expect(await books()).toMatchObject({ spendableRaw: 100n, walletRaw: 100n, promisedRaw: 0n });
    await agree();
  });

  it('a released payment that a chain reorganisation makes after all is debited once, with a warning', async () => {
    const { chain, reader } = world;
    const before = await chain.snapshot();
    await chain.travel(VALID_SECONDS);
    await reader.tick();
    expect([await stateNow(), await books()]).toMatchObject(['expired_unsettled', RELEASED]);
    await chain.revert(before);
    await take();
    await chain.mine();
    await reader.tick();
    await reader.tick();
    expect(told().filter((message) => message?.includes('after it was released'))).toHaveLength(1);
    expect(await books()).toMatchObject(PAID);
    await agree();
  });

  it('a released payment that is made after all is debited as far as funds reach, and the rest is a shortfall', async () => {
    const { chain, reader, sql } = world;
    const { agentId, keyId } = payer;
    const before = await chain.snapshot();
    await chain.travel(VALID_SECONDS);
    await reader.tick();
    const spent = await reader.ledger.hold({
      spender: { agentId, keyId },
      holdId: `all of ${agentId}`,
      amountRaw: FUNDS_RAW,
      destination: DESTINATION,
    });
    if (spent.kind !== 'held') throw new Error('what was released can be spent');
    const { hold } = spent;
    await reader.ledger.settle({ hold, actualRaw: FUNDS_RAW, account: 'gateway', source: 'test' });
    await chain.revert(before);
    await take();
    await reader.tick();
    expect(await books()).toMatchObject({ spendableRaw: 0n, heldRaw: 0n, walletRaw: 99n });
    const [row] = await sql<{ short: bigint }[]>`
      select coalesce(sum(e.amount), 0)::bigint as short
      from postings p, unnest(p.debits, p.amounts) as e(debit, amount)
      where p.agent_id = ${agentId} and e.debit = 'shortfall:x402'`;
    expect(row?.short).toBe(1n);
    await agree();
  });
});
