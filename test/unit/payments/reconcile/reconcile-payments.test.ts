import { describe, expect, it } from 'vitest';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import type { Reconciled } from '../../../../src/payments/reconcile/reconcile.ts';
import { createReconcilePayments } from '../../../../src/payments/reconcile/reconcile-payments.ts';
import type { Sql } from '../../../../src/platform/postgres/sql.ts';
import { movedBy, reconcileWorld } from '../../../support/reconcile-world.ts';

type Row = { number: bigint; hash: string; holder: string | null };

/** The one row about the chain, as the database keeps it. */
function cursorTable() {
  const row: Row = { number: -1n, hash: '', holder: null };
  const state = { row, isAway: false };
  const sql = (async (text: TemplateStringsArray, ...values: unknown[]) => {
    const statement = text.join('?');
    if (statement.includes('insert into chain_cursors')) {
      if (state.isAway) throw new Error('the database is away');
      const nodeId = values[3] as string;
      if (row.holder !== null && row.holder !== nodeId) return [];
      row.holder = nodeId;
      return [{ block_number: row.number, block_hash: row.hash }];
    }
    if (statement.includes('set block_number')) {
      const [number, hash, , from, fromHash] = values as [number, string, string, number, string];
      if (row.number === BigInt(from) && row.hash === fromHash) {
        Object.assign(row, { number: BigInt(number), hash });
      }
    }
    if (statement.includes('set claimed_by') && row.holder === values[1]) row.holder = null;
    return [];
  }) as unknown as Sql;
  return { sql, state };
}

function setUp() {
  const world = reconcileWorld(0, 1);
  world.owners.set(`0x${'a1'.repeat(20)}`, 1);
  const { sql, state } = cursorTable();
  const { book } = world;
  const done: Reconciled[] = [];
  /** Blocks as of which the wallets were looked at again. */
  const audited: number[] = [];
  const processOf = (nodeId: string) =>
    createReconcilePayments({
      ...world.deps,
      sql,
      nodeId,
      clock: book.clock,
      onDone: (result) => done.push(result),
      auditor: { run: async (at) => void audited.push(at.number) },
    });
  /** The most blocks that one look at the logs went over, of those that there have been since. */
  const longest = () =>
    Math.max(
      0,
      ...world.chain.queries.splice(0).map(({ fromBlock, toBlock }) => toBlock - fromBlock + 1),
    );
  return { ...world, state, done, audited, processOf, longest };
}

describe('reading the chain for all processes', () => {
  it('the chain reader goes on where the last process stopped', async () => {
    const { processOf, chain, order, state } = setUp();
    await processOf('a').tick();
    chain.mine(3);
    await processOf('b').tick();
    expect(order.filter((what) => what.startsWith('logs'))).toEqual(['logs 0-0', 'logs 1-3']);
    expect(state.row).toEqual({ number: 3n, hash: chain.head.hash, holder: null });
  });

  it('the chain reader runs a wallet audit only when it is up to date with the chain', async () => {
    const { processOf, chain, failOn, audited } = setUp();
    const reader = processOf('a');
    await reader.tick();
    chain.mine(PAYMENT_LIMITS.chain.blocksPerTick.most + 7);
    await reader.tick();
    expect(audited).toEqual([0]);
    await reader.tick();
    await reader.tick();
    const { number } = chain.head;
    expect(audited).toEqual([0, number, number]);
    const callOff = failOn(/^head/);
    await expect(reader.tick()).rejects.toThrow();
    callOff();
    chain.lagsAt = number - 1;
    await reader.tick();
    expect(audited).toEqual([0, number, number]);
  });

  it('the chain is read by one process at a time', async () => {
    const { processOf, chain } = setUp();
    const [a, b] = [processOf('a'), processOf('b')];
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    chain.onAsk = () => held;
    const first = a.tick();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await b.tick()).toBe('busy');
    goOn();
    expect(await first).not.toBe('busy');
    expect(await b.tick()).not.toBe('busy');
  });

  it('a chain reader that fails releases its claim and keeps the cursor', async () => {
    const { processOf, state, failOn, chain } = setUp();
    await processOf('a').tick();
    chain.mine(3);
    const back = failOn(/^logs/);
    await expect(processOf('a').tick()).rejects.toThrow('away');
    expect(state.row).toMatchObject({ number: 0n, holder: null });
    back();
    expect(await processOf('b').tick()).toMatchObject({ readTo: { number: 3 } });
  });

  it('a chain reader does not overwrite the cursor of a process that took over its claim', async () => {
    const { processOf, state, chain } = setUp();
    chain.onAsk = async () => {
      Object.assign(state.row, { holder: 'b', number: 77n, hash: 'theirs' });
    };
    await processOf('a').tick();
    expect(state.row).toEqual({ holder: 'b', number: 77n, hash: 'theirs' });
  });

  it('a chain reader without its database fails and reads nothing from the chain', async () => {
    const { processOf, state, order } = setUp();
    state.isAway = true;
    await expect(processOf('a').tick()).rejects.toThrow('away');
    expect(order).toEqual([]);
  });

  it('a chain reader returns its result, and logs it only where something was done', async () => {
    const { processOf, pay, chain, done, lines } = setUp();
    const worker = processOf('a');
    await worker.tick();
    expect(lines).toEqual([]);
    const row = await pay('p');
    chain.mine();
    chain.use(row, movedBy(row));
    expect(await worker.tick()).toBe(done[1]);
    expect(done).toMatchObject([{ settled: 0 }, { settled: 1, left: 0 }]);
    expect(lines).toMatchObject([{ msg: 'payments were reconciled', settled: 1 }]);
  });
});

describe('a chain that is far ahead', () => {
  it('a chain far ahead is read in ranges that shrink while reading fails and grow again afterwards', async () => {
    const { processOf, chain, longest, state } = setUp();
    const { least, most, fewer, more } = PAYMENT_LIMITS.chain.blocksPerTick;
    const worker = processOf('a');
    await worker.tick();
    chain.mine(2 * most);
    longest();
    // A node that returns no more than this, with every query split into smaller ranges.
    const tells = Math.floor(most / fewer ** 2);
    chain.onAsk = async (asked) => {
      const [, from, to] = /^logs (\d+)-(\d+)$/.exec(asked) ?? [];
      if (Number(to) - Number(from) >= tells) throw new Error('too much');
    };
    await expect(worker.tick()).rejects.toThrow('too much');
    await expect(worker.tick()).rejects.toThrow('too much');
    await worker.tick();
    expect(longest()).toBe(tells);
    expect(state.row.number).toBe(BigInt(tells));
    chain.onAsk = () => undefined;
    await worker.tick();
    await worker.tick();
    expect(longest()).toBe(tells * more ** 2);

    chain.onAsk = () => Promise.reject(new Error('away'));
    for (let i = 0; i < 20; i++) await expect(worker.tick()).rejects.toThrow('away');
    chain.onAsk = () => undefined;
    await worker.tick();
    expect(longest()).toBe(least);
  });
});
