import { describe, expect, it } from 'vitest';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import { recoverAwaited } from '../../../../src/payments/reconcile/recover-vanished.ts';
import { AGENT } from '../../../support/payment-book.ts';
import { reservationOf } from '../../../support/payments.ts';
import { movedBy, reconcileWorld } from '../../../support/reconcile-world.ts';

const WALLET = reservationOf('p').wallet;
const VANISHED = 'a settled payment has left the chain for good';
const MAY_COME_BACK = 'a settled payment has left the chain; it may come back';

/** A payment was settled by a block that another branch has replaced. */
async function vanishedWorld(confirmations = 0) {
  const world = reconcileWorld(confirmations, 10);
  await world.book.deposited;
  world.chain.deal(WALLET, 1_000_000n);
  await world.read();
  const row = await world.pay('p');
  world.chain.mine();
  world.chain.use(row, movedBy(row));
  world.chain.mine(confirmations);
  await world.read();
  expect(world.book.row('p').state).toBe('settled');
  world.chain.reorganise(1 + confirmations);
  world.order.length = 0;
  return { ...world, row };
}

const CREDITED_AGAIN = { spendableRaw: 1_000_000n, heldRaw: 0n, walletRaw: 1_000_000n };
const SETTLED = { spendableRaw: 990_000n, heldRaw: 0n, walletRaw: 990_000n };

describe('a settled payment that a reorganisation takes away', () => {
  it('a settled payment that a reorganisation removed is credited again once it has lapsed', async () => {
    const { book, chain, read, errors } = await vanishedWorld();
    chain.mine(1, 100);
    await read();
    expect(book.funds).toMatchObject(CREDITED_AGAIN);
    expect(errors()).toContain(VANISHED);
    chain.reorganise(1);
    chain.mine();
    await read();
    expect(book.funds).toMatchObject(CREDITED_AGAIN);
  });

  it('a removed payment that the chain has again after all is debited again, with an error logged', async () => {
    const { book, chain, row, read, errors } = await vanishedWorld();
    chain.mine(1, 100);
    await read();
    expect(book.funds).toMatchObject(CREDITED_AGAIN);
    // As of another branch again, on which it stands.
    chain.reorganise(1);
    chain.use(row, movedBy(row));
    await read();
    expect(book.row('p')).toMatchObject({ state: 'settled', isCorrected: true });
    expect(book.funds).toMatchObject(SETTLED);
    expect(errors()).toContain('a payment moved on chain after it was released');
    expect(book.store.violations()).toEqual([]);
  });

  it('a removed payment stays settled while its authorization is valid, and the cursor waits', async () => {
    const { book, chain, read, errors } = await vanishedWorld();
    expect(await read()).toMatchObject({ readTo: undefined });
    expect(errors()).toContain(MAY_COME_BACK);
    expect(book.funds).toMatchObject(SETTLED);
    chain.mine(1, 100);
    expect(await read()).toMatchObject({ readTo: { number: 11 } });
    expect(book.funds).toMatchObject(CREDITED_AGAIN);
  });

  it('a removed payment stays settled where the new branch has it too', async () => {
    const { book, chain, row, read, errors } = await vanishedWorld();
    await read();
    chain.mine();
    chain.use(row, movedBy(row));
    expect(await read()).toMatchObject({ readTo: { number: 11 } });
    chain.mine(1, 100);
    await read();
    expect(book.funds).toMatchObject(SETTLED);
    expect(errors()).not.toContain(VANISHED);
  });

  it('a removed payment is checked again where the token did not answer its state', async () => {
    const { book, chain, row, read } = await vanishedWorld();
    chain.mine(1, 100);
    chain.states.set(row.nonce, undefined);
    expect(await read()).toMatchObject({ readTo: undefined });
    expect(book.funds).toMatchObject(SETTLED);
    chain.states.clear();
    await read();
    expect(book.funds).toMatchObject(CREDITED_AGAIN);
  });

  it('without a reorganisation no settled payment is checked again', async () => {
    const { book, chain, pay, read, order } = reconcileWorld(0, 10);
    await read();
    const row = await pay('p');
    chain.mine();
    chain.use(row, movedBy(row));
    await read();
    order.length = 0;
    chain.mine(1, 1_000);
    await read();
    expect(order.filter((what) => what.startsWith('states'))).toEqual([]);
    expect(book.funds).toMatchObject(SETTLED);
  });

  it('a removed payment is credited again only when its wallet holds the money', async () => {
    const { awaited, book, chain, deps, read, errors } = await vanishedWorld();
    chain.mine(1, 100);
    // By its balance the wallet has paid, whatever the token says of the authorization.
    chain.deal(WALLET, -10_000n);
    // Nothing is read for ever from where the chain parted because of one wallet.
    expect(await read()).toMatchObject({ readTo: { number: 11 } });
    expect(book.funds).toMatchObject(SETTLED);
    expect(errors()).toContain(
      'a wallet does not hold the USDC that the chain has shown; its deposits wait',
    );
    const [wait] = await awaited.findDue(PAYMENT_LIMITS.audit.awaitedPerTick);
    if (wait === undefined) throw new Error('nothing waits');
    expect(wait.agentId).toBe(AGENT);
    expect(await recoverAwaited({ ...deps, isRetry: true }, wait, chain.head)).toBe(false);
    chain.deal(WALLET, 10_000n);
    expect(await recoverAwaited({ ...deps, isRetry: true }, wait, chain.head)).toBe(true);
    expect(await recoverAwaited({ ...deps, isRetry: true }, wait, chain.head)).toBe(true);
    expect(book.funds).toMatchObject(CREDITED_AGAIN);
  });

  it('a removed payment of amount 0 is logged and not credited', async () => {
    const { book, chain, pay, read, errors, credits } = reconcileWorld(0, 10);
    await read();
    const row = await pay('p', { valueRaw: 0n });
    chain.mine();
    chain.use(row, movedBy(row));
    await read();
    chain.reorganise(1);
    chain.mine(1, 100);
    await read();
    expect(errors()).toContain(VANISHED);
    expect([credits, book.funds.spendableRaw]).toEqual([[], 1_000_000n]);
  });
});
