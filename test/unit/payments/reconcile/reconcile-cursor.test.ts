import { describe, expect, it } from 'vitest';
import { ledgerErrors } from '../../../../src/ledger/engine/errors.ts';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import type { PaymentAlarm } from '../../../../src/payments/reconcile/payment-alarm.ts';
import { reconcile } from '../../../../src/payments/reconcile/reconcile.ts';
import { topicOf } from '../../../../src/platform/chain/abi.ts';
import type { LogQuery } from '../../../../src/platform/chain/log-query.ts';
import { RpcTooMuch, RpcUnavailable } from '../../../../src/platform/chain/rpc.ts';
import { word } from '../../../support/fakes/json-rpc-node.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { movedBy, reconcileWorld } from '../../../support/reconcile-world.ts';

const WALLET = `0x${'a1'.repeat(20)}`;
const STRANGER = `0x${'dd'.repeat(20)}`;

/** The blocks whose logs were asked for. */
const read = (asked: readonly string[]) => [
  ...new Set(asked.filter((what) => what.startsWith('logs')).map((what) => what.slice(5))),
];

function watchedWorld(confirmations = 0, blocks = 1) {
  const world = reconcileWorld(confirmations, blocks);
  world.owners.set(WALLET, 1);
  return world;
}

describe('how far the chain was read', () => {
  it('the reconcile cursor starts `reorgBlocks` below the confirmed block when the chain was never read', async () => {
    const world = watchedWorld(2, 1_000);
    expect(await world.read()).toMatchObject({ readTo: { number: 997 } });
    expect(read(world.order)).toEqual([`${997 - PAYMENT_LIMITS.chain.reorgBlocks}-997`]);
    expect(world.cursor).toMatchObject({ number: 997 });
  });

  it('the reconcile cursor is unset while the chain is shorter than the confirmation depth', async () => {
    const world = watchedWorld(5, 5);
    await world.pay('p');
    expect(await world.read()).toMatchObject({ readTo: undefined, settled: 0, released: 0 });
    expect(world.order).toEqual(['head']);
  });

  it('the reconcile cursor goes on at the next block and reads each block once', async () => {
    const world = watchedWorld(0, 10);
    await world.read();
    world.chain.mine(5);
    await world.read();
    world.chain.mine(2);
    await world.read();
    expect(read(world.order)).toEqual(['0-9', '10-14', '15-16']);
  });

  it('the reconcile cursor stays where there is no new block, and no logs are read', async () => {
    const world = watchedWorld(0, 10);
    await world.read();
    world.order.length = 0;
    expect(await world.read()).toMatchObject({ readTo: undefined });
    expect(read(world.order)).toEqual([]);
  });

  it('the reconcile cursor does not go back for a node that lags', async () => {
    const world = watchedWorld(0, 10);
    await world.read();
    world.chain.lagsAt = 4;
    world.order.length = 0;
    expect(await world.read()).toMatchObject({ readTo: undefined });
    expect([read(world.order), world.errors()]).toEqual([[], []]);
    expect(world.cursor).toMatchObject({ number: 9 });
  });

  it('the reconcile cursor goes back after a reorganisation and settles what the new branch has', async () => {
    const world = watchedWorld(0, 600);
    await world.read();
    const row = await world.pay('p');
    world.chain.reorganise(3);
    world.chain.use(row, movedBy(row));
    world.order.length = 0;
    expect(await world.read()).toMatchObject({ settled: 1, readTo: { number: 599 } });
    // The newest block first: its logs prove where those of the node end.
    expect(read(world.order)).toEqual(['599-599', `${599 - PAYMENT_LIMITS.chain.reorgBlocks}-599`]);
    expect(world.errors()).toEqual([
      'the chain was reorganised below what was believed; it is read again',
    ]);
    expect(world.cursor?.hash).toBe(world.chain.head.hash);
  });

  it('the reconcile cursor goes back from blocks that never existed, once the chain’s time shows it', async () => {
    const world = watchedWorld(0, 600);
    const { chain } = world;
    await world.read();
    world.cursor = { number: 5_000, hash: word(5_000) };
    chain.mine();
    chain.transfer({ from: STRANGER, to: WALLET, valueRaw: 50n });
    const clock = new ManualClock((chain.head.timestampSec + 3_600) * 1_000);
    // As far as is known the node is only late.
    expect(await world.read({ clock })).toMatchObject({ readTo: undefined, deposits: 0 });
    chain.mine(1, 3_600);
    expect(await world.read({ clock })).toMatchObject({ readTo: { number: 601 }, deposits: 1 });
    expect(world.cursor).toMatchObject({ number: 601 });
    expect(world.errors()).toHaveLength(1);
  });

  it('the reconcile cursor moves by at most `blocksPerTick.most` blocks a tick', async () => {
    const { most } = PAYMENT_LIMITS.chain.blocksPerTick;
    const world = watchedWorld(0, most + 50);
    world.cursor = { number: 9, hash: (await world.chain.rpc.block(9))?.hash ?? '' };
    expect(await world.read()).toMatchObject({ readTo: { number: 9 + most } });
    expect(await world.read()).toMatchObject({ readTo: world.chain.head });
    expect(read(world.order)).toEqual([`10-${9 + most}`, `${10 + most}-${most + 49}`]);
  });

  it('the reconcile cursor moves by a smaller given limit, and payments are judged at the newest confirmed block', async () => {
    const world = watchedWorld(0, 1);
    await world.read();
    await world.pay('p');
    world.chain.mine(100);
    const done = await reconcile(world.deps, world.cursor, 10);
    // A node need not know the states of older ones.
    expect(done).toMatchObject({ readTo: { number: 10 }, released: 1, left: 0 });
    expect(world.chain.asked.filter((what) => what.startsWith('states'))).toHaveLength(1);
  });
});

describe('a reading', () => {
  it('a reconcile tick reads the head before the live payments, and those before the logs', async () => {
    const { chain, pay, read, order } = watchedWorld();
    await read();
    order.length = 0;
    chain.mine();
    await pay('p');
    await read();
    expect(order[0]).toBe('head');
    expect(order.indexOf('head')).toBeLessThan(order.indexOf('live'));
    expect(order.indexOf('live')).toBeLessThan(order.findIndex((what) => /^logs/.test(what)));
  });

  it('a reconcile tick without wallets reads no logs', async () => {
    const { read, order } = reconcileWorld(0, 10);
    expect(await read()).toMatchObject({ readTo: { number: 9 } });
    expect(order.filter((what) => what.startsWith('logs'))).toEqual([]);
  });

  it.each([
    ['the head', /^head/],
    ['the logs of payments', /^logs/],
    ['the states', /^states/],
  ])(
    'a reconcile tick that cannot read %s fails, and a later tick makes up for it',
    async (_, question) => {
      const { book, chain, pay, read, failOn } = watchedWorld(0, 1);
      await read();
      const [used] = [await pay('used'), await pay('lapsed')];
      chain.mine();
      chain.use(used, movedBy(used));
      chain.mine(1, 100);
      const back = failOn(question);
      await expect(read()).rejects.toThrow(RpcUnavailable);
      back();
      await read();
      expect([book.row('used').state, book.row('lapsed').state]).toEqual([
        'settled',
        'expired_unsettled',
      ]);
      expect(book.store.violations()).toEqual([]);
    },
  );

  it('a reconcile tick that the ledger interrupts keeps its cursor, and the next one takes nothing twice', async () => {
    const world = watchedWorld(0, 1);
    const { book, chain, pay, read } = world;
    await read();
    chain.mine();
    for (const name of ['a', 'b', 'c']) {
      const row = await pay(name);
      chain.use(row, movedBy(row));
    }
    const { cursor } = world;
    let settles = 0;
    book.beforeStep = (step) =>
      step === 'settle' && ++settles === 2 ? Promise.reject(ledgerErrors.away()) : undefined;
    await expect(read()).rejects.toThrow('ledger_unavailable');
    expect(world.cursor).toEqual(cursor);
    expect(await read()).toMatchObject({ settled: 1, left: 0 });
    expect(book.funds).toMatchObject({ spendableRaw: 970_000n, heldRaw: 0n, walletRaw: 970_000n });
    expect(book.store.violations()).toEqual([]);
  });

  it('a reconcile tick that cannot write one payment raises an alarm and settles the others', async () => {
    const world = watchedWorld(0, 1);
    const { book, chain, pay, read, lines } = world;
    await read();
    chain.mine();
    for (const name of ['a', 'b', 'c']) {
      const row = await pay(name);
      chain.use(row, movedBy(row));
    }
    let settles = 0;
    book.beforeStep = (step) =>
      step === 'settle' && ++settles === 2 ? Promise.reject(new Error('poison')) : undefined;
    expect(await read()).toMatchObject({
      settled: 2,
      left: 1,
      readTo: { number: chain.head.number },
    });
    expect(lines).toMatchObject([{ msg: 'what the chain has said cannot be written down' }]);
  });
});

describe('USDC that comes in', () => {
  it('a USDC deposit is credited to the agent that owns the wallet, in balance and wallet funds', async () => {
    const { chain, read, credits, book } = watchedWorld();
    chain.mine();
    chain.transfer({ from: STRANGER, to: WALLET, valueRaw: 50n });
    chain.transfer({ from: STRANGER, to: STRANGER, valueRaw: 50n });
    expect(await read()).toMatchObject({ deposits: 1 });
    expect(credits).toMatchObject([{ agentId: 1, amountRaw: 50n, deposit: true }]);
    expect(book.funds).toMatchObject({ spendableRaw: 1_000_050n, walletRaw: 1_000_050n });
  });

  it('a USDC deposit is credited only by the process that holds the claim on the chain', async () => {
    const { chain, read, credits } = watchedWorld();
    chain.transfer({ from: STRANGER, to: WALLET, valueRaw: 50n });
    const overtaken = { keepClaim: () => Promise.reject(new Error('overtaken')) };
    await expect(read(overtaken)).rejects.toThrow('overtaken');
    expect(credits).toEqual([]);
    expect(await read()).toMatchObject({ deposits: 1 });
  });

  it('a wallet with more transfers in a block than can be read does not delay the deposits of others', async () => {
    const world = watchedWorld();
    const { chain, owners, read, book } = world;
    const flooded = `0x${'a2'.repeat(20)}`;
    owners.set(flooded, 2);
    await read();
    chain.mine();
    chain.transfer({ from: STRANGER, to: flooded, valueRaw: 1n });
    chain.transfer({ from: STRANGER, to: WALLET, valueRaw: 50n });
    const { logs } = chain.rpc;
    const tells = async (query: LogQuery) => {
      const isFlood = query.topics.some((wanted) => wanted?.includes(topicOf(flooded)));
      if (isFlood) throw new RpcTooMuch('more than 10000 results');
      return logs(query);
    };
    Object.assign(chain.rpc, { logs: tells });
    const alarms: PaymentAlarm[] = [];
    const onAlarm = (alarm: PaymentAlarm) => void alarms.push(alarm);
    expect(await read({ onAlarm })).toMatchObject({ deposits: 1, readTo: chain.head });
    expect([alarms, book.funds.walletRaw]).toEqual([['wallet_flooded'], 1_000_050n]);
  });

  it('a USDC deposit is credited once, however often its block is read', async () => {
    const world = watchedWorld();
    world.chain.transfer({ from: STRANGER, to: WALLET, valueRaw: 50n });
    expect(await world.read()).toMatchObject({ deposits: 1 });
    world.cursor = undefined;
    expect(await world.read()).toMatchObject({ deposits: 0 });
    expect([world.errors(), world.book.funds.walletRaw]).toEqual([[], 1_000_050n]);
  });

  it('a USDC deposit that was credited before with another amount is logged as an error', async () => {
    const world = watchedWorld();
    const txHash = world.chain.transfer({ from: STRANGER, to: WALLET, valueRaw: 50n });
    await world.read();
    world.chain.reorganise(1);
    world.chain.transfer({ from: STRANGER, to: WALLET, valueRaw: 60n, txHash });
    world.chain.mine();
    expect(await world.read()).toMatchObject({ deposits: 0 });
    expect(world.errors()).toContain('a deposit was credited before with another amount');
    expect(world.book.funds.walletRaw).toBe(1_000_050n);
  });

  it('a USDC transfer from the wallet itself or of amount 0 is no deposit', async () => {
    const { chain, read, credits } = watchedWorld();
    chain.transfer({ from: WALLET, to: WALLET, valueRaw: 50n });
    chain.transfer({ from: STRANGER, to: WALLET, valueRaw: 0n });
    expect(await read()).toMatchObject({ deposits: 0 });
    expect(credits).toEqual([]);
  });
});
