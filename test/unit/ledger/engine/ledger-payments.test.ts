import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { createLedger } from '../../../../src/ledger/engine/ledger.ts';
import { LEDGER_LIMITS } from '../../../../src/ledger/engine/limits.ts';
import type { ReservationMove } from '../../../../src/ledger/rules/payment.ts';
import { CallTimeout } from '../../../../src/platform/postgres/transient.ts';
import { MemoryLedger } from '../../../support/fakes/memory-ledger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { moveOf, nonceOf, paidCharge, payoutOf, reservationOf } from '../../../support/payments.ts';
import { DESTINATION, FACTS } from '../../../support/spending.ts';

const AGENT = 1;

async function world(depositedRaw = 10n) {
  const store = new MemoryLedger();
  store.addAgent(AGENT);
  const clock = new ManualClock();
  const ledger = createLedger({ store, clock, log: silentLog });
  await ledger.credit({ agentId: AGENT, amountRaw: depositedRaw, reference: 'd', deposit: true });
  const pay = (name: string, amountRaw: bigint) =>
    ledger.hold({
      spender: { agentId: AGENT, keyId: 1 },
      holdId: name,
      amountRaw,
      destination: DESTINATION,
      reservation: reservationOf(name),
    });
  const advance = (name: string, from: ReservationMove['from'], to: ReservationMove['to']) =>
    ledger.advance({ agentId: AGENT, holdId: name, move: moveOf(name, from, to) });
  const end = (
    name: string,
    amountRaw: bigint,
    move: Pick<ReservationMove, 'from' | 'to'>,
    actualRaw = move.to === 'settled' ? amountRaw : 0n,
  ) =>
    ledger.settle({
      hold: { holdId: name, agentId: AGENT, amountRaw, facts: FACTS },
      actualRaw,
      account: 'chain:usdc',
      source: 'x402',
      move: moveOf(name, move.from, move.to),
    });
  const stateOf = (name: string) => store.reservations.get(nonceOf(name))?.state;
  return {
    store,
    clock,
    ledger,
    pay,
    advance,
    end,
    stateOf,
    funds: () => store.require(AGENT).state,
  };
}

/** Lets promises and callbacks run until nothing is ready. */
const settleDown = async () => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

type World = Awaited<ReturnType<typeof world>>;

/** The database carries everything out and its answers are lost, until it is back. */
function loseAnswers({ store, clock }: Pick<World, 'store' | 'clock'>) {
  const apply = store.apply.bind(store);
  store.apply = async (parts) => {
    await apply(parts);
    throw new CallTimeout('the answer was lost');
  };
  return {
    back: () => {
      store.apply = apply;
    },
    async pass(seconds: number) {
      for (let i = 0; i < seconds; i++) {
        await settleDown();
        clock.advance(1_000);
      }
      await settleDown();
    },
  };
}

describe('a payment in the ledger', () => {
  it('a payment is held together with its row, moved on, and settled together with its end', async () => {
    const { store, pay, advance, end, stateOf, funds } = await world();
    expect((await pay('h', 4n)).kind).toBe('held');
    expect(stateOf('h')).toBe('reserved');
    expect(funds()).toMatchObject({ spendableRaw: 6n, heldRaw: 4n, promisedRaw: 4n });
    expect(await advance('h', 'reserved', 'sent')).toBe('moved');
    expect(await advance('h', 'sent', 'pending_settlement')).toBe('moved');
    const settled = await end('h', 4n, { from: 'pending_settlement', to: 'settled' });
    expect(settled).toMatchObject({ kind: 'settled', chargedRaw: 4n });
    expect(stateOf('h')).toBe('settled');
    expect(funds()).toMatchObject({
      spendableRaw: 6n,
      heldRaw: 0n,
      walletRaw: 6n,
      promisedRaw: 0n,
    });
    expect(store.violations()).toEqual([]);
  });

  it('payments beyond the wallet’s balance are refused, also among several at once', async () => {
    const { ledger, pay, store } = await world(10n);
    await ledger.credit({ agentId: AGENT, amountRaw: 90n, reference: 'granted' });
    const verdicts = await Promise.all(Array.from({ length: 8 }, (_, i) => pay(`h${i}`, 3n)));
    expect(verdicts.filter(({ kind }) => kind === 'held')).toHaveLength(3);
    expect(verdicts.at(-1)).toMatchObject({ refusal: { availableRaw: 1n, requiredRaw: 3n } });
    expect(store.reservations.size).toBe(3);
    expect(store.violations()).toEqual([]);
  });

  it('a payment’s step stands although its reply was lost, and its resend does not conflict with it', async () => {
    const w = await world();
    await w.pay('h', 4n);
    const outage = loseAnswers(w);
    const moved = w.advance('h', 'reserved', 'sent');
    await outage.pass(2);
    expect(w.stateOf('h')).toBe('sent');
    outage.back();
    await outage.pass(2);
    expect(await moved).toBe('moved');
    expect(w.ledger.counters.resends).toBeGreaterThan(0);
  });

  it('a payment’s step is lost where another process moved the payment to a different state first, and nothing moves', async () => {
    const { advance, pay, end, stateOf, funds } = await world();
    await pay('h', 4n);
    expect(await advance('h', 'reserved', 'pending_settlement')).toBe('moved');
    expect(await advance('h', 'reserved', 'sent')).toBe('lost');
    expect(await advance('nobody', 'reserved', 'sent')).toBe('lost');
    expect(await end('h', 4n, { from: 'sent', to: 'settled' })).toEqual({
      kind: 'already_resolved',
    });
    expect(stateOf('h')).toBe('pending_settlement');
    expect(funds()).toMatchObject({ heldRaw: 4n, promisedRaw: 4n });
  });

  it('a payment under the id of another payment’s hold is refused, and no row is written', async () => {
    const { ledger, store, pay, funds } = await world();
    await pay('h', 4n);
    const again = { spender: { agentId: AGENT, keyId: 1 }, holdId: 'h', amountRaw: 4n };
    const other = { ...again, destination: DESTINATION, reservation: reservationOf('other') };
    await expect(ledger.hold(other)).rejects.toThrow('used before for something else');
    // Where it would be refused, too: what stands is looked at first.
    await pay('rest', 6n);
    await expect(ledger.hold(other)).rejects.toThrow('used before for something else');
    expect((await pay('h', 4n)).kind).toBe('held');
    expect(store.reservations.has(nonceOf('other'))).toBe(false);
    expect(funds()).toMatchObject({ heldRaw: 10n, promisedRaw: 10n });
  });

  it('a payment that two processes resolve is settled once: an equal end repeats, and a different end is refused', async () => {
    const { store, pay, end, stateOf, funds } = await world();
    await pay('h', 4n);
    const used = { from: 'reserved', to: 'settled' } as const;
    const kinds = (await Promise.all([end('h', 4n, used), end('h', 4n, used)])).map((v) => v.kind);
    expect(kinds).toEqual(['settled', 'settled']);
    const lapsed = { from: 'reserved', to: 'expired_unsettled' } as const;
    expect(await end('h', 4n, lapsed)).toEqual({ kind: 'already_resolved' });
    expect(stateOf('h')).toBe('settled');
    expect(funds()).toMatchObject({ consumedRaw: 4n, heldRaw: 0n, walletRaw: 6n });
    expect(store.violations()).toEqual([]);
  });

  it('a payment is released where the caller of its hold got an error instead of the hold', async () => {
    const w = await world();
    const outage = loseAnswers(w);
    const told = expect(w.pay('h', 4n)).rejects.toMatchObject({ error: 'ledger_unavailable' });
    await outage.pass(2 * (LEDGER_LIMITS.calls.giveUpMs / 1_000));
    await told;
    expect(w.stateOf('h')).toBe('reserved');
    outage.back();
    await outage.pass(3);
    expect(w.stateOf('h')).toBe('released');
    expect(w.funds()).toMatchObject({ spendableRaw: 10n, heldRaw: 0n, promisedRaw: 0n });
    expect(w.store.violations()).toEqual([]);
  });

  it('a payment that another process took up after its caller gave up stays held until the chain decides', async () => {
    const w = await world();
    const outage = loseAnswers(w);
    const told = expect(w.pay('h', 4n)).rejects.toMatchObject({ status: 503 });
    await outage.pass(2 * (LEDGER_LIMITS.calls.giveUpMs / 1_000));
    await told;
    // Another process takes it for the row of a dead one.
    const row = w.store.reservations.get(nonceOf('h'));
    if (row === undefined) throw new Error('no row was written');
    w.store.reservations.set(nonceOf('h'), { ...row, state: 'pending_settlement' });
    outage.back();
    await outage.pass(3);
    expect(w.stateOf('h')).toBe('pending_settlement');
    expect(w.funds()).toMatchObject({ heldRaw: 4n, promisedRaw: 4n });
    expect(w.ledger.load().waiting).toBe(0);
  });

  it('a payment takes all of its hold or nothing, and ends only together with its hold', async () => {
    const { pay, advance, end, ledger } = await world();
    await pay('h', 4n);
    await expect(end('h', 4n, { from: 'reserved', to: 'settled' }, 3n)).rejects.toThrow('all of');
    await expect(end('h', 4n, { from: 'reserved', to: 'released' }, 4n)).rejects.toThrow('nothing');
    await expect(end('h', 4n, { from: 'reserved', to: 'sent' })).rejects.toThrow('keeps its hold');
    await expect(advance('h', 'reserved', 'released')).rejects.toThrow('resolves its hold');
    const move = moveOf('h', 'reserved', 'settled');
    const late = { agentId: AGENT, amountRaw: 4n, facts: FACTS, move };
    const charge = (chargedRaw: bigint) => paidCharge(AGENT, chargedRaw);
    await expect(ledger.correct({ ...late, charge })).rejects.toThrow('no end');
  });
});

describe('what leaves a wallet otherwise', () => {
  it('a late payment is debited once, however often it is found', async () => {
    const { store, ledger, pay, end, funds } = await world(10n);
    await pay('h', 4n);
    await end('h', 4n, { from: 'reserved', to: 'expired_unsettled' });
    await pay('g', 8n);
    const move = moveOf('h', 'expired_unsettled', 'expired_unsettled');
    const charge = (chargedRaw: bigint) => paidCharge(AGENT, chargedRaw);
    const late = { agentId: AGENT, amountRaw: 4n, facts: FACTS, move, charge };
    await Promise.all([ledger.correct(late), ledger.correct(late)]);
    await ledger.correct(late);
    expect(funds()).toMatchObject({ spendableRaw: 0n, heldRaw: 8n, consumedRaw: 2n });
    expect(funds()).toMatchObject({ walletRaw: 6n, promisedRaw: 8n });
    expect(ledger.counters.shortfallRaw).toBe(2n);
    expect(store.charges).toBe(1);
    // More is signed away than is there: the agent may sign no more.
    expect(await pay('more', 1n)).toMatchObject({ refusal: { availableRaw: 0n } });
    expect(store.violations()).toEqual([]);
  });

  it('a payout is paid once, however often it is planned, seen and reported', async () => {
    const { store, ledger, funds } = await world(10n);
    await ledger.credit({ agentId: AGENT, amountRaw: 5n, reference: 'granted' });
    const close = { agentId: AGENT, reference: 'close', payout: payoutOf('p') };
    expect(await ledger.withdrawAll(close)).toMatchObject({ withdrawnRaw: 15n, isRepeat: false });
    expect(await ledger.withdrawAll({ ...close, payout: payoutOf('q') })).toMatchObject({
      withdrawnRaw: 15n,
      isRepeat: true,
    });
    expect([...store.payouts.keys()]).toEqual([nonceOf('payout p')]);
    expect(funds()).toMatchObject({ spendableRaw: 0n, walletRaw: 10n, promisedRaw: 10n });
    const seen = { agentId: AGENT, nonce: nonceOf('payout p'), amountRaw: 10n, txHash: '0xfe' };
    await Promise.all([ledger.paid(seen), ledger.paid(seen)]);
    expect(funds()).toMatchObject({ walletRaw: 0n, promisedRaw: 0n });
    expect(store.violations()).toEqual([]);
  });

  it('a transfer moves what a deposit backs and nothing holds, once, or nothing', async () => {
    const { store, ledger, pay, funds } = await world(10n);
    await ledger.credit({ agentId: AGENT, amountRaw: 5n, reference: 'granted' });
    await pay('h', 4n);
    const move = (reference: string, amountRaw: bigint) =>
      ledger.transfer({ agentId: AGENT, reference, amountRaw, payout: payoutOf(reference) });
    // 11 can be spent, of which the wallet has 6 that are not signed away.
    expect(await move('a', 7n)).toEqual({ kind: 'insufficient', availableRaw: 6n });
    expect(store.payouts.size).toBe(0);
    const told = await Promise.all([move('b', 4n), move('b', 4n), move('c', 4n)]);
    expect(told).toEqual([
      { kind: 'withdrawn', isRepeat: false },
      { kind: 'withdrawn', isRepeat: true },
      { kind: 'insufficient', availableRaw: 2n },
    ]);
    expect(await move('b', 4n)).toEqual({ kind: 'withdrawn', isRepeat: true });
    expect(funds()).toMatchObject({ spendableRaw: 7n, heldRaw: 4n, promisedRaw: 8n });
    const seen = { agentId: AGENT, nonce: nonceOf('payout b'), amountRaw: 4n, txHash: '0xfe' };
    await ledger.paid(seen);
    expect(funds()).toMatchObject({ walletRaw: 6n, promisedRaw: 4n });
    expect(store.violations()).toEqual([]);
  });

  it('a sweep takes once only what is beyond all claims of the agent', async () => {
    const { store, ledger, pay, funds } = await world(10n);
    await pay('h', 2n);
    const hold = { holdId: 'm', agentId: AGENT, amountRaw: 5n, facts: FACTS };
    const spender = { agentId: AGENT, keyId: 1 };
    await ledger.hold({ spender, holdId: 'm', amountRaw: 5n, destination: DESTINATION });
    await ledger.settle({ hold, actualRaw: 5n, account: 'gateway', source: 'm' });
    const sweep = (name: string) =>
      ledger.sweep({ agentId: AGENT, payout: payoutOf(name, 'sweep'), leastRaw: 1n });
    await Promise.all([sweep('s'), sweep('t')]);
    await sweep('s');
    expect([...store.payouts.values()].map(({ amountRaw }) => amountRaw)).toEqual([3n]);
    expect(funds()).toMatchObject({
      spendableRaw: 3n,
      heldRaw: 2n,
      walletRaw: 10n,
      promisedRaw: 5n,
    });
    expect(store.violations()).toEqual([]);
  });
});
