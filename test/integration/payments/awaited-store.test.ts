import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LiveLedger } from '../../../src/ledger/engine/ledger.ts';
import type { AwaitedStore } from '../../../src/payments/reconcile/awaited.ts';
import { createAwaitedStore } from '../../../src/payments/reconcile/awaited-store.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { MemoryAwaited } from '../../support/fakes/memory-awaited.ts';
import { MemoryLedger } from '../../support/fakes/memory-ledger.ts';
import { liveLedger } from '../../support/ledger-load.ts';
import { seedAgents } from '../../support/ledger-world.ts';

const BOOK_RAW = 1_000n;
const AN_HOUR_MS = 3_600_000;

let db: TestDatabase;
let ledger: LiveLedger;
beforeAll(async () => {
  db = await testDatabase();
  ledger = liveLedger(db.sql, 'awaited');
});
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});
beforeEach(() => db.sql`delete from awaited_deposits`);

const walletOf = (agentId: number) => `0x${agentId.toString(16).padStart(40, '0')}`;

type Opened = {
  readonly store: AwaitedStore;
  readonly one: number;
  readonly other: number;
  /** An alarm tells what the wallet of the first agent has more than the book. */
  readonly tell: (raw: bigint) => Promise<void>;
};

/** What the database keeps, and what the tests without one keep in its place: both hold to the same. */
const STORES = {
  async database(): Promise<Opened> {
    const [one = 0, other = 0] = (await seedAgents(db.sql, 2)).map(({ agentId }) => agentId);
    for (const agentId of [one, other]) {
      await db.sql`update agents set wallet_address = ${walletOf(agentId)} where id = ${agentId}`;
      const reference = `deposit ${agentId}`;
      await ledger.credit({ agentId, amountRaw: BOOK_RAW, reference, deposit: true });
    }
    const tell = async (raw: bigint) => {
      await db.sql`
        insert into wallet_differences (agent_id, difference_raw, floor_block, told_raw)
        values (${one}, ${String(raw)}, 0, ${String(raw)})
        on conflict (agent_id) do update set told_raw = excluded.told_raw`;
    };
    return { store: createAwaitedStore(db.sql), one, other, tell };
  },
  async memory(): Promise<Opened> {
    const memory = new MemoryLedger();
    for (const agentId of [1, 2]) {
      memory.addAgent(agentId);
      const { state, rules } = memory.require(agentId);
      memory.balances.set(agentId, { state: { ...state, walletRaw: BOOK_RAW }, rules });
    }
    const store = new MemoryAwaited(memory, walletOf, () => performance.now());
    const tell = async (raw: bigint) => {
      store.toldRaw = (agentId) => (agentId === 1 ? raw : 0n);
    };
    return { store, one: 1, other: 2, tell };
  },
} satisfies Record<string, () => Promise<Opened>>;

describe.each(Object.entries(STORES))('wallets whose deposits wait, in the %s', (_, open) => {
  it('the book of a wallet has the balance, minus an amount that a missing-funds alarm has reported', async () => {
    const { store, one, other, tell } = await open();
    const bookOf = async (agentId: number) => (await store.findBooks([one, other])).get(agentId);
    expect(await bookOf(one)).toEqual({ walletRaw: BOOK_RAW, missingRaw: 0n, isWaiting: false });
    await tell(-7n);
    expect(await bookOf(one)).toEqual({ walletRaw: BOOK_RAW, missingRaw: 7n, isWaiting: false });
    expect(await bookOf(other)).toEqual({ walletRaw: BOOK_RAW, missingRaw: 0n, isWaiting: false });
    // USDC that no log explains is not lacking.
    await tell(7n);
    expect(await bookOf(one)).toEqual({ walletRaw: BOOK_RAW, missingRaw: 0n, isWaiting: false });
    expect(await store.findBooks([])).toEqual(new Map());
  });

  it('the awaited deposits of a wallet are one row with a block range, and only a block beyond that range is news', async () => {
    const { store, one, other } = await open();
    const blocks = (...numbers: number[]) =>
      numbers.map((blockNumber) => ({ agentId: one, blockNumber }));
    expect(await store.add([])).toEqual(new Set());
    expect(await store.add([...blocks(20, 10), { agentId: other, blockNumber: 5 }])).toEqual(
      new Set([one, other]),
    );
    expect(await store.add(blocks(15, 10, 20))).toEqual(new Set());
    expect(await store.add(blocks(30))).toEqual(new Set([one]));
    const due = await store.findDue(10);
    expect(due.find(({ agentId }) => agentId === one)).toEqual({
      agentId: one,
      wallet: walletOf(one),
      fromBlock: 10,
      toBlock: 30,
      looks: 0,
    });
    expect(await store.findDue(1)).toHaveLength(1);
  });

  it('a look for awaited deposits is postponed, due at once for a new block, and closed behind its last block', async () => {
    const { store, one } = await open();
    const at = (blockNumber: number) => store.add([{ agentId: one, blockNumber }]);
    const due = async () => (await store.findDue(10)).find(({ agentId }) => agentId === one);
    const isWaiting = async () => (await store.findBooks([one])).get(one)?.isWaiting;
    await at(10);
    const wait = await due();
    if (wait === undefined) throw new Error('nothing waits');
    await store.postpone(wait, 0);
    expect(await due()).toMatchObject({ looks: 1 });
    await store.postpone(wait, AN_HOUR_MS);
    expect(await due()).toBeUndefined();
    await at(10);
    expect(await due()).toBeUndefined();
    await at(40);
    expect(await due()).toMatchObject({ fromBlock: 10, toBlock: 40, looks: 0 });
    // Another block came to the wallet since it was read.
    await store.close(wait);
    expect(await isWaiting()).toBe(true);
    await store.close({ ...wait, toBlock: 40 });
    expect([await due(), await isWaiting()]).toEqual([undefined, false]);
    expect(await at(10)).toEqual(new Set([one]));
  });
});
