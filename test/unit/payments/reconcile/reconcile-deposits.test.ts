import { describe, expect, it } from 'vitest';
import { ledgerErrors } from '../../../../src/ledger/engine/errors.ts';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import type { PaymentAlarm } from '../../../../src/payments/reconcile/payment-alarm.ts';
import type { ReconcileDeps } from '../../../../src/payments/reconcile/reconcile.ts';
import { retryAwaited } from '../../../../src/payments/reconcile/retry-awaited.ts';
import { applyVerdict } from '../../../../src/payments/reservations/apply-verdict.ts';
import { MemoryAudits } from '../../../support/fakes/memory-audits.ts';
import { AGENT } from '../../../support/payment-book.ts';
import { movedBy, reconcileWorld } from '../../../support/reconcile-world.ts';

const OTHER = 2;
const OURS = `0x${'a1'.repeat(20)}`;
const OTHER_OURS = `0x${'a2'.repeat(20)}`;
const STRANGER = `0x${'bb'.repeat(20)}`;
const NOT_HELD = 'a wallet does not hold the USDC that the chain has shown; its deposits wait';
const FIRST_RAW = 1_000_000n;
const deposit = { from: STRANGER, to: OURS };

/** Two agents whose wallets hold what the book says, and the alarms of every reading. */
async function setUp() {
  const world = reconcileWorld(0, 2);
  const { book, chain, owners, awaited } = world;
  book.store.addAgent(OTHER);
  owners.set(OURS, AGENT).set(OTHER_OURS, OTHER);
  await book.deposited;
  chain.deal(OURS, FIRST_RAW);
  await world.read();
  chain.mine();
  const alarms: PaymentAlarm[] = [];
  const onAlarm = (alarm: PaymentAlarm) => void alarms.push(alarm);
  const read = (change: Partial<ReconcileDeps> = {}) => world.read({ onAlarm, ...change });
  const audits = new MemoryAudits(book.store, new Map([[AGENT, OURS]]), () => book.clock.now());
  const retry = async () => {
    const retried = await retryAwaited({ ...world.deps, audits, restMs: 0, onAlarm }, chain.head);
    return retried.length;
  };
  const bookedRaw = (agentId: number) => book.store.require(agentId).state.walletRaw;
  return { ...world, awaited, alarms, audits, read, retry, bookedRaw };
}

/** The node tells of a transfer that there never was, by its log alone. */
function invent(
  { chain }: Pick<Awaited<ReturnType<typeof setUp>>, 'chain'>,
  valueRaw: bigint,
): string {
  return chain.invent({ ...deposit, valueRaw });
}

describe('USDC that comes into agent wallets', () => {
  it('a deposit is credited once, wherever a reorganisation puts its transaction', async () => {
    const { chain, read, bookedRaw } = await setUp();
    const txHash = chain.transfer({ ...deposit, valueRaw: 10n });
    expect(await read()).toMatchObject({ deposits: 1 });
    chain.reorganise(1);
    chain.transfer({ from: STRANGER, to: STRANGER, valueRaw: 1n });
    chain.transfer({ ...deposit, valueRaw: 10n, txHash });
    expect(await read()).toMatchObject({ deposits: 0 });
    expect(bookedRaw(AGENT)).toBe(FIRST_RAW + 10n);
  });

  it('a transaction with several deposits credits each of them, to each wallet its own', async () => {
    const { chain, deps, read, bookedRaw } = await setUp();
    const txHash = chain.transfer({ ...deposit, valueRaw: 10n });
    chain.transfer({ from: STRANGER, to: OTHER_OURS, valueRaw: 10n, txHash });
    chain.transfer({ ...deposit, valueRaw: 10n, txHash });
    chain.transfer({ ...deposit, valueRaw: 10n });
    expect(await read()).toMatchObject({ deposits: 4 });
    const credited = await deps.findCredited([`deposit:${txHash}:${OURS}`]);
    expect([...credited.values()]).toEqual([10n, 10n]);
    expect([bookedRaw(AGENT), bookedRaw(OTHER)]).toEqual([FIRST_RAW + 30n, 10n]);
  });

  it('a transfer of amount 0 or to the sender itself is not credited', async () => {
    const { chain, read, bookedRaw } = await setUp();
    chain.transfer({ ...deposit, valueRaw: 0n });
    chain.transfer({ from: OURS, to: OURS, valueRaw: 10n });
    expect(await read()).toMatchObject({ deposits: 0 });
    expect(bookedRaw(AGENT)).toBe(FIRST_RAW);
  });
});

describe('a deposit that the wallet does not hold', () => {
  it('a deposit that the node invented is never credited and raises one alarm', async () => {
    const world = await setUp();
    const { alarms, awaited, bookedRaw, chain, book, read, retry } = world;
    const txHash = invent(world, 500n);
    expect(await read()).toMatchObject({ deposits: 0, readTo: { number: chain.head.number } });
    for (let i = 0; i < 3; i++) {
      expect(await retry()).toBe(0);
      book.clock.advance(PAYMENT_LIMITS.audit.retryMaxMs);
    }
    expect([bookedRaw(AGENT), alarms, awaited.rows.size]).toEqual([
      FIRST_RAW,
      ['deposit_not_held'],
      1,
    ]);
    // The node tells the truth again: nothing waits any more.
    chain.hidden.add(txHash);
    expect(await retry()).toBe(0);
    expect([bookedRaw(AGENT), awaited.rows.size]).toEqual([FIRST_RAW, 0]);
  });

  it('a real deposit waits behind an invented one of its wallet, and is credited once that is gone', async () => {
    const world = await setUp();
    const { alarms, bookedRaw, chain, book, read, retry } = world;
    const txHash = invent(world, 3n);
    chain.transfer({ ...deposit, valueRaw: 10n });
    expect(await read()).toMatchObject({ deposits: 0 });
    expect(await retry()).toBe(0);
    expect(bookedRaw(AGENT)).toBe(FIRST_RAW);
    chain.hidden.add(txHash);
    book.clock.advance(PAYMENT_LIMITS.audit.retryMaxMs);
    expect(await retry()).toBe(1);
    expect(await retry()).toBe(0);
    expect([bookedRaw(AGENT), alarms]).toEqual([FIRST_RAW + 10n, ['deposit_not_held']]);
  });

  it('a deposit is not credited from the money of one that waits, whatever is read first', async () => {
    const world = await setUp();
    const { bookedRaw, book, chain, read, retry } = world;
    const lies = [invent(world, 3n)];
    chain.transfer({ ...deposit, valueRaw: 10n });
    await read();
    chain.mine();
    lies.push(invent(world, 9n));
    expect(await read()).toMatchObject({ deposits: 0 });
    expect(await retry()).toBe(0);
    expect(bookedRaw(AGENT)).toBe(FIRST_RAW);
    for (const txHash of lies) chain.hidden.add(txHash);
    book.clock.advance(PAYMENT_LIMITS.audit.retryMaxMs);
    expect(await retry()).toBe(1);
    expect(bookedRaw(AGENT)).toBe(FIRST_RAW + 10n);
  });

  it('a wallet with an invented deposit does not delay the deposits of other wallets', async () => {
    const world = await setUp();
    const { bookedRaw, chain, read } = world;
    invent(world, 500n);
    chain.transfer({ from: STRANGER, to: OTHER_OURS, valueRaw: 7n });
    expect(await read()).toMatchObject({ deposits: 1, readTo: { number: chain.head.number } });
    expect([bookedRaw(AGENT), bookedRaw(OTHER)]).toEqual([FIRST_RAW, 7n]);
  });

  it('a deposit is credited beside an open payment of its wallet in the same blocks', async () => {
    const { alarms, bookedRaw, chain, pay, read } = await setUp();
    const row = await pay('p', { wallet: OURS });
    chain.use(row, movedBy(row));
    chain.transfer({ ...deposit, valueRaw: 40n });
    expect(await read()).toMatchObject({ deposits: 1, settled: 1 });
    expect([bookedRaw(AGENT), alarms]).toEqual([FIRST_RAW - 10_000n + 40n, []]);
  });

  it('a deposit is credited once where its wallet’s payment is settled only later', async () => {
    const { alarms, bookedRaw, chain, deps, book, pay, read, retry } = await setUp();
    const row = await pay('p', { wallet: OURS });
    const txHash = chain.use(row, movedBy(row));
    chain.transfer({ ...deposit, valueRaw: 40n });
    // More payments are open than one reading takes.
    expect(await read({ findLive: async () => [] })).toMatchObject({ deposits: 0 });
    expect([bookedRaw(AGENT), alarms]).toEqual([FIRST_RAW, ['deposit_not_held']]);
    await applyVerdict(deps, row, { kind: 'used', txHash });
    expect(await retry()).toBe(1);
    expect(await retry()).toBe(0);
    expect(bookedRaw(AGENT)).toBe(FIRST_RAW - 10_000n + 40n);
    expect(book.store.violations()).toEqual([]);
  });

  it('a deposit waits while the chain does not answer the wallet’s balance', async () => {
    const { bookedRaw, chain, read, retry } = await setUp();
    chain.transfer({ ...deposit, valueRaw: 40n });
    const { call } = chain.rpc;
    Object.assign(chain.rpc, { call: async () => '0x' });
    expect(await read()).toMatchObject({ deposits: 0 });
    Object.assign(chain.rpc, { call });
    expect(await retry()).toBe(1);
    expect(bookedRaw(AGENT)).toBe(FIRST_RAW + 40n);
  });

  it('blocks whose wallet balances cannot be read are read again', async () => {
    const { bookedRaw, chain, failOn, read } = await setUp();
    chain.transfer({ ...deposit, valueRaw: 40n });
    const callOff = failOn(/^states/);
    await expect(read()).rejects.toThrow('away');
    callOff();
    expect(await read()).toMatchObject({ deposits: 1 });
    expect(bookedRaw(AGENT)).toBe(FIRST_RAW + 40n);
  });

  it('a deposit is credited where the wallet lacks no more than an earlier alarm said', async () => {
    const world = await setUp();
    const { awaited, bookedRaw, chain, read } = world;
    chain.deal(OURS, -100n);
    awaited.toldRaw = (agentId) => (agentId === AGENT ? -100n : 0n);
    chain.transfer({ ...deposit, valueRaw: 40n });
    expect(await read()).toMatchObject({ deposits: 1 });
    chain.mine();
    invent(world, 5n);
    expect(await read()).toMatchObject({ deposits: 0 });
    expect(bookedRaw(AGENT)).toBe(FIRST_RAW + 40n);
  });

  it('a waiting deposit is stored before the credit of another wallet fails, which is retried once', async () => {
    const world = await setUp();
    const { alarms, awaited, bookedRaw, chain, deps, errors, read } = world;
    invent(world, 5n);
    chain.transfer({ from: STRANGER, to: OTHER_OURS, valueRaw: 7n });
    const dies = async () => Promise.reject(ledgerErrors.away());
    await expect(read({ ledger: { ...deps.ledger, credit: dies } })).rejects.toThrow();
    expect([awaited.rows.has(AGENT), bookedRaw(OTHER)]).toEqual([true, 0n]);
    expect(await read()).toMatchObject({ deposits: 1 });
    expect([bookedRaw(AGENT), bookedRaw(OTHER)]).toEqual([FIRST_RAW, 7n]);
    expect([alarms, errors()]).toEqual([['deposit_not_held'], [NOT_HELD]]);
  });

  it('a waiting deposit is retried with a doubling pause, and a failed retry counts', async () => {
    const world = await setUp();
    const { awaited, book, failOn, read, retry } = world;
    invent(world, 5n);
    await read();
    const pauses: number[] = [];
    for (let i = 0; i < 3; i++) {
      await retry();
      pauses.push((awaited.rows.get(AGENT)?.nextMs ?? 0) - book.clock.now());
      book.clock.advance(PAYMENT_LIMITS.audit.retryMaxMs);
    }
    expect(pauses).toEqual([5_000, 10_000, 20_000]);
    const callOff = failOn(/^logs/);
    expect(await retry()).toBe(0);
    callOff();
    expect(awaited.rows.get(AGENT)?.looks).toBe(4);
  });
});
