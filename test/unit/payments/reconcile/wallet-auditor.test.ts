import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { ledgerErrors } from '../../../../src/ledger/engine/errors.ts';
import { createLedger } from '../../../../src/ledger/engine/ledger.ts';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import type { PaymentAlarm } from '../../../../src/payments/reconcile/payment-alarm.ts';
import { createWalletAuditor } from '../../../../src/payments/reconcile/wallet-auditor.ts';
import type { Block } from '../../../../src/platform/chain/rpc-answers.ts';
import { MemoryAudits } from '../../../support/fakes/memory-audits.ts';
import { MemoryAwaited } from '../../../support/fakes/memory-awaited.ts';
import { MemoryLedger } from '../../../support/fakes/memory-ledger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { AGENT } from '../../../support/payment-book.ts';
import { movedBy, reconcileWorld } from '../../../support/reconcile-world.ts';

const WALLET = `0x${'a1'.repeat(20)}`;
const STRANGER = `0x${'dd'.repeat(20)}`;
const REST_MS = 300_000;

/** A chain that is read, a book beside it, and the second look at both. */
async function auditedWorld() {
  const world = reconcileWorld(0, 2);
  const { book, chain, owners, deps, read } = world;
  owners.set(WALLET, AGENT);
  await book.deposited;
  chain.deal(WALLET, 1_000_000n);
  await read();
  const alarms: PaymentAlarm[] = [];
  const wallets = new Map([[AGENT, WALLET]]);
  const audits = new MemoryAudits(book.store, wallets, () => book.clock.now());
  const auditor = createWalletAuditor({
    ...deps,
    audits,
    restMs: REST_MS,
    onAlarm: (alarm) => void alarms.push(alarm),
  });
  const run = (at: Block = chain.head) => auditor.run(at);
  /** One round, and what is looked for because of it. */
  const round = async () => {
    book.clock.advance(REST_MS);
    await run();
    return run();
  };
  /** A block with something in it that the node does not tell. */
  const hide = (txHash: string) => {
    chain.hidden.add(txHash);
    chain.transfer({ from: STRANGER, to: STRANGER, valueRaw: 1n });
  };
  await round();
  return { ...world, alarms, audits, auditor, run, round, hide };
}

const deposit = { from: STRANGER, to: WALLET };

describe('the second look', () => {
  it('a wallet audit finds and moves nothing where the first reading missed nothing', async () => {
    const { book, chain, pay, read, round, alarms } = await auditedWorld();
    const row = await pay('p', { wallet: WALLET });
    chain.mine();
    chain.use(row, movedBy(row));
    chain.transfer({ ...deposit, valueRaw: 40n });
    await read();
    const { funds } = book;
    const credits = book.store.postings.size;
    expect(await round()).toEqual({ deposits: 0, differing: 0 });
    expect([book.funds, book.store.postings.size, alarms]).toEqual([funds, credits, []]);
  });

  it('a wallet audit credits a deposit whose log was left out, under its usual name, with an alarm', async () => {
    const { book, chain, read, round, hide, alarms, errors } = await auditedWorld();
    chain.mine();
    const txHash = chain.transfer({ ...deposit, valueRaw: 11_000n });
    hide(txHash);
    expect(await read()).toMatchObject({ deposits: 0 });
    chain.hidden.delete(txHash);
    chain.mine();
    await read();
    await round();
    expect(book.store.postings.has(`credit:deposit:${txHash}:${WALLET}:0`)).toBe(true);
    expect(book.funds.walletRaw).toBe(1_011_000n);
    expect(alarms).toEqual(['deposit_missed']);
    expect(errors()).toContain(
      'the first reading of the chain has missed transfers, which are in the books now',
    );
    await round();
    expect(alarms).toHaveLength(1);
  });

  it('a wallet audit debits a payment that was released on a node’s false answer, with an alarm', async () => {
    const { book, chain, pay, read, round, alarms } = await auditedWorld();
    const row = await pay('p', { wallet: WALLET });
    chain.lie = { kind: 'blind', since: chain.head.number };
    chain.mine();
    chain.use(row, movedBy(row));
    chain.mine(1, 100);
    expect(await read()).toMatchObject({ released: 1 });
    chain.lie = undefined;
    chain.mine();
    await read({ findWatched: async () => [] });
    expect(book.row('p')).toMatchObject({ state: 'expired_unsettled', isCorrected: false });
    await round();
    expect(book.row('p')).toMatchObject({ state: 'expired_unsettled', isCorrected: true });
    expect(book.funds).toMatchObject({ spendableRaw: 990_000n, walletRaw: 990_000n });
    expect(alarms).toEqual(['moved_after_release']);
    expect(book.store.violations()).toEqual([]);
  });

  it('a wallet audit debits a settled payment once that a false reorganisation gave back', async () => {
    const world = await auditedWorld();
    const { book, chain, pay, read, round, alarms } = world;
    const row = await pay('p', { wallet: WALLET });
    chain.mine();
    chain.use(row, movedBy(row));
    await read();
    const charges = book.store.charges;
    chain.mine();
    await read();
    chain.lie = { kind: 'forked', since: 1 };
    chain.mine(1, 100);
    await read();
    expect(book.funds).toMatchObject({ spendableRaw: 1_000_000n, walletRaw: 1_000_000n });
    chain.lie = undefined;
    chain.mine();
    // The reading that finds the true branch again has it already.
    world.cursor = { number: chain.head.number, hash: chain.head.hash };
    for (let i = 0; i < 3; i++) await round();
    expect(book.row('p')).toMatchObject({ state: 'settled', isCorrected: true });
    expect(book.funds).toMatchObject({ spendableRaw: 990_000n, walletRaw: 990_000n });
    expect(alarms).toEqual(['moved_after_release']);
    // It has its line of history since it was settled.
    expect(book.store.charges).toBe(charges);
    expect(book.store.violations()).toEqual([]);
  });

  it('a wallet audit finds by the balance a deposit that lies before its overlap blocks', async () => {
    const { book, chain, read, round, hide, alarms } = await auditedWorld();
    chain.mine();
    const txHash = chain.transfer({ ...deposit, valueRaw: 9n });
    hide(txHash);
    // Longer than rounds read back, and no log explains what the balance says.
    for (let i = 0; i < 4; i++) {
      chain.mine(PAYMENT_LIMITS.audit.overlapBlocks);
      await read();
      await round();
    }
    expect(alarms).toEqual(['wallet_differs']);
    expect(book.funds.walletRaw).toBe(1_000_000n);
    chain.hidden.delete(txHash);
    book.clock.advance(PAYMENT_LIMITS.audit.retryMaxMs);
    expect(await round()).toMatchObject({ differing: 0 });
    expect(book.funds.walletRaw).toBe(1_000_009n);
    expect(alarms).toEqual(['wallet_differs', 'deposit_missed']);
  });

  it('a wallet audit makes the next round read again the blocks around a missed deposit', async () => {
    const { chain, read, round, hide, audits } = await auditedWorld();
    chain.mine();
    const txHash = chain.transfer({ ...deposit, valueRaw: 9n });
    hide(txHash);
    const missed = chain.head.number;
    await read();
    chain.hidden.delete(txHash);
    chain.mine(2 * PAYMENT_LIMITS.audit.overlapBlocks);
    await read();
    await round();
    const state = await audits.findState();
    expect(state?.rereadFrom).toBeNull();
    expect(state?.round.fromBlock).toBeLessThanOrEqual(missed);
  });

  it('a wallet audit reports a missed deposit though the balances cannot be read afterwards', async () => {
    const { book, chain, read, run, round, hide, deps, failOn, alarms } = await auditedWorld();
    chain.mine();
    const txHash = chain.transfer({ ...deposit, valueRaw: 9n });
    hide(txHash);
    await read();
    chain.hidden.delete(txHash);
    chain.mine();
    await read();
    book.clock.advance(REST_MS);
    const { credit } = deps.ledger;
    let callOff = () => {};
    Object.assign(deps.ledger, {
      credit: (request: Parameters<typeof credit>[0]) => {
        callOff = failOn(/^states/);
        return credit(request);
      },
    });
    expect(await run()).toBeUndefined();
    expect([book.funds.walletRaw, alarms]).toEqual([1_000_009n, ['deposit_missed']]);
    callOff();
    await round();
    expect(alarms).toHaveLength(1);
  });

  it('a wallet audit reports each deposit that it credits though the ledger fails on the next one', async () => {
    const { book, chain, read, run, round, hide, deps, alarms } = await auditedWorld();
    chain.mine();
    const hidden = [8n, 9n].map((valueRaw) => chain.transfer({ ...deposit, valueRaw }));
    for (const txHash of hidden) hide(txHash);
    await read();
    chain.hidden.clear();
    chain.mine();
    await read();
    book.clock.advance(REST_MS);
    const { credit } = deps.ledger;
    let credits = 0;
    Object.assign(deps.ledger, {
      credit: (request: Parameters<typeof credit>[0]) =>
        ++credits === 2 ? Promise.reject(ledgerErrors.away()) : credit(request),
    });
    expect(await run()).toBeUndefined();
    expect(alarms).toEqual(['deposit_missed']);
    await round();
    expect(alarms).toEqual(['deposit_missed', 'deposit_missed']);
    expect(book.funds.walletRaw).toBe(1_000_017n);
  });

  it('a wallet audit raises an alarm for a credited deposit that never existed', async () => {
    const { book, chain, read, round, alarms } = await auditedWorld();
    chain.mine();
    chain.transfer({ ...deposit, valueRaw: 9n });
    await read();
    // By every balance that the node tells from now on.
    chain.deal(WALLET, -9n);
    chain.mine();
    await read();
    for (let i = 0; i < 3; i++) await round();
    expect(alarms).toEqual(['wallet_differs']);
    expect(book.funds.walletRaw).toBe(1_000_009n);
  });

  it('a wallet audit credits nothing for a process that lost its claim', async () => {
    const { book, chain, read, hide, deps, audits, alarms } = await auditedWorld();
    chain.mine();
    const txHash = chain.transfer({ ...deposit, valueRaw: 9n });
    hide(txHash);
    await read();
    chain.hidden.delete(txHash);
    chain.mine();
    await read();
    book.clock.advance(REST_MS);
    const overtaken = createWalletAuditor({
      ...deps,
      audits,
      restMs: REST_MS,
      keepClaim: () => Promise.reject(new Error('overtaken')),
    });
    expect(await overtaken.run(chain.head)).toBeUndefined();
    expect([book.funds.walletRaw, alarms]).toEqual([1_000_000n, []]);
  });

  it('a wallet audit skips a wallet whose balance the chain does not answer', async () => {
    const { chain, round, audits, alarms } = await auditedWorld();
    chain.mine();
    const call = chain.rpc.call;
    Object.assign(chain.rpc, { call: async () => '0x' });
    await round();
    expect([audits.differences.size, alarms]).toEqual([0, []]);
    Object.assign(chain.rpc, { call });
  });
});

describe('a second look at many wallets', () => {
  it('a wallet audit takes `walletsPerPass` wallets a pass and reaches the last one', async () => {
    const { deps, chain, read, owners } = reconcileWorld(0, 2);
    const { walletsPerPass } = PAYMENT_LIMITS.audit;
    const ledger = new MemoryLedger();
    const wallets = new Map<number, string>();
    for (let agentId = 1; agentId <= 2 * walletsPerPass + 1; agentId++) {
      ledger.addAgent(agentId);
      wallets.set(agentId, `0x${agentId.toString(16).padStart(40, '0')}`);
    }
    const last = wallets.get(wallets.size) ?? '';
    owners.clear();
    await read();
    chain.transfer({ from: STRANGER, to: last, valueRaw: 9n });
    const clock = new ManualClock();
    const audits = new MemoryAudits(ledger, wallets, () => clock.now());
    const live = createLedger({ store: ledger, clock, log: silentLog });
    const auditor = createWalletAuditor({
      ...deps,
      ledger: live,
      findCredited: ledger.findCredited,
      audits,
      restMs: REST_MS,
      awaited: new MemoryAwaited(
        ledger,
        (id) => wallets.get(id) ?? '',
        () => clock.now(),
      ),
    });
    const step = async () => {
      chain.queries.length = 0;
      chain.asked.length = 0;
      const audited = await auditor.run(chain.head);
      const asked = chain.queries.map(({ topics }) => topics.at(-1)?.length ?? 0);
      const calls = chain.asked.filter((what) => what.startsWith('states'));
      return { audited, most: Math.max(...asked), questions: asked.length, calls: calls.length };
    };
    const nothing = { deposits: 0, differing: 0 };
    const page = { most: walletsPerPass, questions: 2, calls: 1 };
    expect(await step()).toEqual({ ...page, audited: nothing });
    expect(await step()).toEqual({ ...page, audited: nothing });
    expect(await step()).toEqual({
      ...page,
      most: 1,
      calls: 2,
      audited: { ...nothing, deposits: 1 },
    });
    expect(ledger.require(wallets.size).state.walletRaw).toBe(9n);
  });
});

describe('a second look that cannot be made', () => {
  it('a wallet audit that fails never rejects, and the next pass covers fewer blocks', async () => {
    const { chain, read, run, book, auditor, audits, failOn } = await auditedWorld();
    chain.mine(PAYMENT_LIMITS.audit.blocks.most);
    await read();
    book.clock.advance(REST_MS);
    const callOff = failOn(/^logs/);
    expect(await auditor.run(chain.head)).toBeUndefined();
    callOff();
    const before = await audits.findState();
    await run();
    const after = await audits.findState();
    expect(after?.round.toBlock).toBeGreaterThan(before?.round.toBlock ?? 0);
    const { fromBlock = 0, toBlock = 0 } = after?.round ?? {};
    const { most, fewer } = PAYMENT_LIMITS.audit.blocks;
    expect(toBlock - fromBlock + 1).toBe(most / fewer);
  });
});
