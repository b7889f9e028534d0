import { describe, expect, it } from 'vitest';
import { movedBy, reconcileWorld, START_SEC } from '../../../support/reconcile-world.ts';

const STRANGER = `0x${'dd'.repeat(20)}`;

async function readWorld(confirmations = 0) {
  const world = reconcileWorld(confirmations, confirmations + 1);
  await world.read();
  return world;
}

const asksForStates = (order: readonly string[]) => order.filter((what) => what.includes('states'));

describe('a payment whose time is over', () => {
  it('a lapsed payment is released when a block at its `validBefore` shows it unused, and not a second before', async () => {
    const { book, chain, pay, read } = await readWorld();
    await pay('p');
    chain.mine(1, 89);
    expect(await read()).toMatchObject({ released: 0, left: 1 });
    chain.mine(1, 1);
    expect(await read()).toMatchObject({ settled: 0, released: 1, left: 0 });
    expect(book.row('p').state).toBe('expired_unsettled');
    expect(book.funds).toMatchObject({ spendableRaw: 1_000_000n, heldRaw: 0n, promisedRaw: 0n });
    expect(book.store.violations()).toEqual([]);
  });

  it('a lapsed payment that the vendor refused is released as rejected', async () => {
    const { book, chain, pay, read } = await readWorld();
    await pay('p', { state: 'sent' });
    const move = { nonce: book.row('p').nonce, from: 'sent', to: 'pending_settlement' } as const;
    await book.ledger.advance({
      agentId: 1,
      holdId: 'p',
      move: { ...move, learnt: { refused: true, responseStatusCode: 402 } },
    });
    chain.mine(1, 90);
    await read();
    expect(book.row('p').state).toBe('payment_rejected');
  });

  it('a lapsed payment is judged by the time of a confirmed block, never by the server’s clock', async () => {
    const { book, chain, pay, read } = await readWorld(2);
    await pay('p');
    book.clock.advance(10 * 365 * 86_400_000);
    expect(await read()).toMatchObject({ released: 0, left: 1 });
    chain.mine(2, 90);
    expect(await read()).toMatchObject({ released: 0, left: 1 });
    chain.mine();
    expect(await read()).toMatchObject({ released: 1, left: 0 });
  });

  it('all lapsed payments are read in one request at one block, without those that may still be used', async () => {
    const { chain, pay, read, order } = await readWorld();
    await pay('old');
    await pay('older', { validBefore: START_SEC + 1 });
    await pay('young', { validBefore: START_SEC + 500 });
    const at = chain.mine(1, 100);
    order.length = 0;
    await read();
    expect(asksForStates(order)).toEqual([`states at ${at.number}`]);
    order.length = 0;
    chain.mine();
    expect(await read()).toMatchObject({ left: 1 });
    expect(asksForStates(order)).toEqual([]);
  });

  it('a lapsed payment stays held while the token does not answer its state', async () => {
    const { book, chain, pay, read } = await readWorld();
    const row = await pay('p');
    chain.states.set(row.nonce, undefined);
    chain.mine(1, 10_000);
    expect(await read()).toMatchObject({ settled: 0, released: 0, left: 1 });
    expect(book.row('p').state).toBe('pending_settlement');
  });

  it('a lapsed payment stays held where its state is used and no log names the transaction', async () => {
    const { chain, pay, read } = await readWorld();
    const row = await pay('p');
    chain.states.set(row.nonce, true);
    chain.mine(1, 10_000);
    expect(await read()).toMatchObject({ settled: 0, released: 0, left: 1 });
  });

  it('a lapsed payment is settled when a later scan finds the log that an earlier scan missed', async () => {
    const { book, chain, pay, read } = await readWorld();
    const row = await pay('p');
    chain.mine();
    const txHash = chain.use(row, movedBy(row));
    chain.hidden.add(txHash);
    // The node has other logs of this block.
    chain.transfer({ from: STRANGER, to: STRANGER, valueRaw: 1n });
    expect(await read()).toMatchObject({ settled: 0, left: 1 });
    chain.mine(50);
    expect(await read()).toMatchObject({ settled: 0, released: 0, left: 1 });
    chain.hidden.clear();
    chain.mine();
    expect(await read()).toMatchObject({ settled: 1, left: 0 });
    expect(book.row('p')).toMatchObject({ state: 'settled', txHash });
  });

  it('a lapsed payment is released when a later scan finds the cancellation that an earlier scan missed', async () => {
    const { book, chain, pay, read } = await readWorld();
    const row = await pay('p');
    chain.mine();
    chain.hidden.add(chain.cancel(row));
    chain.transfer({ from: STRANGER, to: STRANGER, valueRaw: 1n });
    await read();
    chain.hidden.clear();
    chain.mine(50);
    expect(await read()).toMatchObject({ released: 1, left: 0 });
    expect(book.row('p').state).toBe('expired_unsettled');
  });

  it('a lapsed payment stays held where a reorganisation replaces the block of its reading', async () => {
    const { book, chain, pay, read } = await readWorld();
    await pay('p');
    chain.mine(1, 90);
    chain.onAsk = async (question) => {
      if (!question.startsWith('states')) return;
      chain.onAsk = () => undefined;
      chain.reorganise(1);
    };
    await expect(read()).rejects.toThrow();
    expect(book.row('p').state).toBe('pending_settlement');
  });
});
