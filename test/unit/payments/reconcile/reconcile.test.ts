import { describe, expect, it } from 'vitest';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import { movedBy, reconcileWorld } from '../../../support/reconcile-world.ts';

const STRANGER = `0x${'dd'.repeat(20)}`;

/** A world whose chain has been read up to its head. */
async function readWorld(confirmations = 0) {
  const world = reconcileWorld(confirmations, confirmations + 1);
  await world.read();
  return world;
}

describe('a payment that the chain shows used', () => {
  it('a payment that the chain shows used is settled with its transaction, before and after it lapses', async () => {
    const { book, chain, pay, read } = await readWorld();
    const [early, late] = [await pay('early'), await pay('late', { state: 'sent' })];
    chain.mine();
    const txHash = chain.use(early, movedBy(early));
    expect(await read()).toMatchObject({ settled: 1, released: 0, left: 1 });
    expect(book.row('early')).toMatchObject({ state: 'settled', txHash });
    chain.mine();
    chain.use(late, movedBy(late));
    chain.mine(100);
    expect(await read()).toMatchObject({ settled: 1, released: 0, left: 0 });
    expect(book.funds).toEqual({
      spendableRaw: 980_000n,
      heldRaw: 0n,
      walletRaw: 980_000n,
      promisedRaw: 0n,
    });
    expect(book.store.violations()).toEqual([]);
  });

  it('a payment that the chain shows used is settled though its process died before marking it sent', async () => {
    const { book, chain, pay, read } = await readWorld();
    const row = await pay('p', { state: 'reserved' });
    chain.mine();
    chain.use(row, movedBy(row));
    expect(await read()).toMatchObject({ settled: 1 });
    expect(book.row('p').state).toBe('settled');
  });

  it('a payment that the chain shows used is settled only at the confirmation depth', async () => {
    const { chain, pay, read } = await readWorld(3);
    const row = await pay('p');
    chain.mine();
    chain.use(row, movedBy(row));
    chain.mine(2);
    expect(await read()).toMatchObject({ settled: 0, left: 1 });
    chain.mine();
    expect(await read()).toMatchObject({ settled: 1, left: 0 });
  });

  it.each([
    ['another payee', { to: STRANGER, valueRaw: 10_000n }],
    ['another amount', { to: `0x${'b2'.repeat(20)}`, valueRaw: 10_001n }],
    ['no transfer at all', undefined],
  ])(
    'a payment that the chain shows used with %s is logged as an error and stays held, also after it lapses',
    async (_, moved) => {
      const { book, chain, pay, read, errors } = await readWorld();
      const row = await pay('p');
      const { funds } = book;
      chain.mine();
      chain.use(row, moved);
      expect(await read()).toMatchObject({ settled: 0, left: 1 });
      expect(errors()).toEqual(['USDC left a wallet by an unknown authorization']);
      chain.mine(100);
      expect(await read()).toMatchObject({ settled: 0, released: 0, left: 1 });
      expect([book.funds, book.row('p').state]).toEqual([funds, 'pending_settlement']);
    },
  );

  it('a transfer of a wallet under an unknown nonce is logged as an error and settles nothing', async () => {
    const { book, chain, pay, read, errors } = await readWorld();
    const row = await pay('p');
    chain.mine();
    chain.use({ ...row, nonce: `0x${'0f'.repeat(32)}` }, movedBy(row));
    expect(await read()).toMatchObject({ settled: 0, left: 1 });
    expect(errors()).toHaveLength(1);
    expect(book.row('p').state).toBe('pending_settlement');
  });

  it('another wallet’s use of a payment’s nonce settles no payment', async () => {
    const { book, chain, pay, read } = await readWorld();
    const row = await pay('p');
    const other = await pay('q', { wallet: STRANGER });
    chain.mine();
    chain.use({ wallet: STRANGER, nonce: row.nonce }, movedBy(row));
    chain.cancel({ wallet: row.wallet, nonce: other.nonce });
    expect(await read()).toMatchObject({ settled: 0, released: 0, left: 2 });
    expect([book.row('p').state, book.row('q').state]).toEqual(Array(2).fill('pending_settlement'));
  });

  it('a payment that the chain shows used is settled although it was not among the live ones that were read', async () => {
    const { book, chain, pay, read } = await readWorld();
    const [row, other] = [await pay('p'), await pay('q')];
    chain.mine();
    chain.use(row, movedBy(row));
    await read({ findLive: async () => [other] });
    expect(book.row('p').state).toBe('settled');
  });
});

describe('a payment that was released', () => {
  it('a released payment that moves late is debited once and logged as an error', async () => {
    const { book, chain, pay, read, errors } = await readWorld();
    const row = await pay('p');
    await book.end('p', 'expired_unsettled');
    chain.mine();
    const txHash = chain.use(row, movedBy(row));
    expect(await read()).toMatchObject({ settled: 0, released: 0, left: 0 });
    expect(book.row('p')).toMatchObject({ state: 'expired_unsettled', isCorrected: true, txHash });
    expect(book.funds).toMatchObject({ spendableRaw: 990_000n, walletRaw: 990_000n });
    chain.mine();
    await read();
    expect(errors()).toEqual(['a payment moved on chain after it was released']);
  });

  it('a released payment that moved late is not debited twice where the same blocks are read again', async () => {
    const world = await readWorld();
    const { book, chain, pay, read, errors } = world;
    const from = world.cursor;
    const [released, settled] = [await pay('p'), await pay('q')];
    await book.end('p', 'expired_unsettled');
    chain.mine();
    chain.use(released, movedBy(released));
    chain.use(settled, movedBy(settled));
    await read();
    const { funds } = book;
    expect(funds).toMatchObject({ spendableRaw: 980_000n, walletRaw: 980_000n });
    world.cursor = from;
    expect(await read()).toMatchObject({ settled: 0, released: 0 });
    expect([book.funds, errors().length]).toEqual([funds, 1]);
    expect(book.store.violations()).toEqual([]);
  });
});

describe('a payment that was called off on chain', () => {
  it('a payment that was cancelled on chain is released before it lapses', async () => {
    const { book, chain, pay, read } = await readWorld();
    const row = await pay('p');
    chain.mine();
    chain.cancel(row);
    expect(await read()).toMatchObject({ settled: 0, released: 1, left: 0 });
    expect(book.row('p').state).toBe('expired_unsettled');
    expect(book.funds).toMatchObject({ spendableRaw: 1_000_000n, heldRaw: 0n, promisedRaw: 0n });
  });
});

describe('a payout', () => {
  const payout = {
    nonce: `0x${'77'.repeat(32)}`,
    agentId: 1,
    amountRaw: 5_000n,
    wallet: `0x${'a7'.repeat(20)}`,
    payee: STRANGER,
  };

  it('a payout is marked done when the chain shows it with its own payee and amount', async () => {
    const { chain, payouts, paid, read, errors } = await readWorld();
    payouts.push({ ...payout, isDone: false });
    chain.mine();
    chain.use(payout, { to: payout.wallet, valueRaw: 5_000n });
    chain.mine();
    const txHash = chain.use(payout, { to: payout.payee, valueRaw: 5_000n });
    await read();
    expect(paid).toEqual([{ agentId: 1, nonce: payout.nonce, amountRaw: 5_000n, txHash }]);
    expect(errors()).toHaveLength(1);
  });

  it('a payout that is done, or was not among the open ones that were read, logs no error', async () => {
    const { chain, pay, payouts, paid, read, errors } = await readWorld();
    const { wallet } = await pay('keeps the wallet in sight');
    const done = { ...payout, wallet, isDone: true };
    const behind = { ...done, nonce: `0x${'78'.repeat(32)}`, isDone: false };
    payouts.push(done, behind);
    chain.mine();
    for (const each of [done, behind]) chain.use(each, { to: each.payee, valueRaw: 5_000n });
    await read({ findOpenPayouts: async () => [] });
    expect(paid).toMatchObject([{ nonce: behind.nonce }]);
    expect(errors()).toEqual([]);
  });
});

describe('many at once', () => {
  it('many settlements are sent to the ledger at most `settlementsUnderWay` at a time', async () => {
    const { book, chain, pay, read } = await readWorld();
    const most = PAYMENT_LIMITS.chain.settlementsUnderWay;
    chain.mine();
    for (let i = 0; i < most + 20; i++) {
      const row = await pay(`p${i}`, { valueRaw: 1n });
      chain.use(row, movedBy(row));
    }
    let [underWay, seen] = [0, 0];
    book.beforeStep = async () => {
      seen = Math.max(seen, ++underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay--;
    };
    expect(await read()).toMatchObject({ settled: most + 20, left: 0 });
    expect(seen).toBeLessThanOrEqual(most);
    expect(seen).toBeGreaterThan(most / 2);
    expect(book.store.violations()).toEqual([]);
  });
});
