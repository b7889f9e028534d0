import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LiveLedger } from '../../../src/ledger/engine/ledger.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import type { AuditStore, Difference } from '../../../src/payments/reconcile/wallet-audit.ts';
import { createAuditStore } from '../../../src/payments/reconcile/wallet-audit-store.ts';
import { findCredited } from '../../../src/payments/reservations/wallet-store.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { MemoryAudits } from '../../support/fakes/memory-audits.ts';
import { MemoryLedger } from '../../support/fakes/memory-ledger.ts';
import { liveLedger } from '../../support/ledger-load.ts';
import { seedAgents } from '../../support/ledger-world.ts';
import { moveOf, nonceOf, payoutOf, reservationOf } from '../../support/payments.ts';
import { rowsReadBy } from '../../support/rows-read.ts';
import { FACTS } from '../../support/spending.ts';

let db: TestDatabase;
let ledger: LiveLedger;
beforeAll(async () => {
  db = await testDatabase();
  ledger = liveLedger(db.sql, 'audits');
});
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const walletOf = (agentId: number) => `0x${agentId.toString(16).padStart(40, '0')}`;

/** Agents with wallets that hold so much by the book. */
async function wallets(count: number, raw = 1_000n): Promise<number[]> {
  const agents = await seedAgents(db.sql, count);
  for (const { agentId } of agents) {
    await db.sql`update agents set wallet_address = ${walletOf(agentId)} where id = ${agentId}`;
    const reference = `deposit ${agentId}`;
    await ledger.credit({ agentId, amountRaw: raw, reference, deposit: true });
  }
  return agents.map(({ agentId }) => agentId);
}

beforeEach(async () => {
  await db.sql`delete from wallet_audits`;
  await db.sql`delete from wallet_differences`;
});

/** What the database keeps, and what the tests without one keep in its place: both hold to the same. */
const STORES = {
  async database() {
    const agentIds = await wallets(3);
    return { store: createAuditStore(db.sql), agentIds };
  },
  async memory() {
    const memory = new MemoryLedger();
    const agentIds = [1, 2, 3];
    for (const agentId of agentIds) memory.addAgent(agentId);
    const owners = new Map(agentIds.map((agentId) => [agentId, walletOf(agentId)]));
    return { store: new MemoryAudits(memory, owners, () => performance.now()), agentIds };
  },
} satisfies Record<string, () => Promise<{ store: AuditStore; agentIds: number[] }>>;

describe.each(Object.entries(STORES))('where the audit stands, in the %s', (_, open) => {
  it('the wallet audit continues only from the state that its process has read', async () => {
    const { store } = await open();
    expect(await store.findState()).toBeUndefined();
    const first = { fromBlock: 10, toBlock: 20, afterAgentId: 0 };
    await store.saveRound(undefined, first, 0);
    await store.saveRound(undefined, { ...first, toBlock: 99 }, 0);
    const state = await store.findState();
    expect(state).toEqual({ round: first, isDue: true, rereadFrom: null });
    const done = { ...first, afterAgentId: null };
    await store.saveRound(state, done, 3_600_000);
    expect(await store.findState()).toEqual({ round: done, isDue: false, rereadFrom: null });
    // Another process that read it before has been overtaken.
    await store.saveRound(state, { ...first, afterAgentId: 7 }, 0);
    expect((await store.findState())?.round).toEqual(done);
  });

  it('the wallet audit starts again at the block of a rewind, until a round from that block is done', async () => {
    const { store } = await open();
    await store.rewind(5);
    expect(await store.findState()).toBeUndefined();
    const round = { fromBlock: 10, toBlock: 20, afterAgentId: 500 };
    await store.saveRound(undefined, round, 0);
    for (const block of [7, 5, 9]) await store.rewind(block);
    let state = await store.findState();
    expect(state?.rereadFrom).toBe(5);
    // A page of the same round takes nothing up.
    await store.saveRound(state, { ...round, afterAgentId: null }, 0);
    state = await store.findState();
    expect(state?.rereadFrom).toBe(5);
    // Meanwhile something else was missed further back.
    await store.rewind(3);
    await store.saveRound(state, { fromBlock: 5, toBlock: 30, afterAgentId: 0 }, 0);
    expect((await store.findState())?.rereadFrom).toBe(3);
    await store.saveRound(
      await store.findState(),
      { fromBlock: 5, toBlock: 30, afterAgentId: null },
      0,
    );
    await store.saveRound(
      await store.findState(),
      { fromBlock: 3, toBlock: 40, afterAgentId: 0 },
      0,
    );
    expect((await store.findState())?.rereadFrom).toBeNull();
  });

  it('the wallet audit keeps a difference with its searches until the difference is explained or has another amount', async () => {
    const { store, agentIds } = await open();
    const [a = 0, b = 0, c = 0] = agentIds;
    const found = (agentId: number, differenceRaw: bigint) => ({
      agentId,
      differenceRaw,
      floorBlock: 4,
    });
    await store.openDifferences([found(a, 5n), found(b, -7n), found(c, 1n)]);
    const fresh = { searchedFrom: null, looks: 0, passes: 0, toldRaw: null, floorBlock: 4 };
    const told = (rows: readonly Difference[]) =>
      rows.map(({ wallet: _w, walletRaw: _r, createdMs: _c, ...row }) => row);
    expect(told(await store.findDifferences(2))).toEqual([
      { agentId: a, differenceRaw: 5n, ...fresh },
      { agentId: b, differenceRaw: -7n, ...fresh },
    ]);
    const look = { searchedFrom: 90, looks: 3, passes: 1 };
    await store.saveLooks([
      { agentId: a, differenceRaw: 5n, ...look, toldRaw: 5n, afterMs: 3_600_000 },
      { agentId: b, differenceRaw: -7n, ...look, toldRaw: -7n, afterMs: 0 },
    ]);
    expect(await store.countTold()).toBe(2);
    await store.closeDifferences([c]);
    expect(told(await store.findDifferences(9))).toMatchObject([{ agentId: b, ...look }]);
    // The same as it was waits on, another one is looked for from the newest block.
    await store.openDifferences([found(a, 5n), found(b, -7n)]);
    expect(told(await store.findDifferences(9))).toMatchObject([{ agentId: b, ...look }]);
    await store.openDifferences([found(a, 6n)]);
    expect(told(await store.findDifferences(9))).toMatchObject([
      { agentId: b },
      { agentId: a, differenceRaw: 6n, searchedFrom: null, looks: 3, passes: 1, toldRaw: 5n },
    ]);
    await store.closeDifferences([a, b]);
    expect([await store.findDifferences(9), await store.countTold()]).toEqual([[], 0]);
  });

  it('the wallet audit has wallets page by page', async () => {
    const { store, agentIds } = await open();
    const [a = 0, b = 0, c = 0] = agentIds;
    const ids = async (after: number, limit: number) =>
      (await store.findWallets(after, limit)).map(({ agentId }) => agentId);
    expect(await ids(a - 1, 2)).toEqual([a, b]);
    expect(await ids(b, 2)).toEqual([c]);
    expect(await ids(c, 2)).toEqual([]);
  });
});

describe('what the books have', () => {
  it("the audit's book of a wallet has settled and corrected payments and finished payouts, and no others", async () => {
    const [agentId = 0] = await wallets(1);
    const spender = { agentId };
    const store = createAuditStore(db.sql);
    const pay = async (name: string) => {
      const reservation = reservationOf(name);
      const destination = { host: reservation.targetHost, payee: reservation.payee };
      await ledger.hold({ spender, holdId: name, amountRaw: 10n, reservation, destination });
    };
    const end = (name: string, to: 'settled' | 'expired_unsettled') =>
      ledger.settle({
        hold: { holdId: name, agentId, amountRaw: 10n, facts: FACTS },
        account: 'chain:usdc',
        source: 'x402',
        move: moveOf(name, 'reserved', to),
        actualRaw: to === 'settled' ? 10n : 0n,
      });
    const correct = (name: string, at: 'settled' | 'expired_unsettled') =>
      ledger.correct({
        agentId,
        amountRaw: 10n,
        facts: FACTS,
        move: moveOf(name, at, at),
        charge: null,
      });
    const names = ['open', 'settled', 'released', 'corrected', 'back', 'back and forth'];
    for (const name of names) await pay(name);
    for (const name of ['settled', 'back', 'back and forth']) await end(name, 'settled');
    for (const name of ['released', 'corrected']) await end(name, 'expired_unsettled');
    await correct('corrected', 'expired_unsettled');
    for (const name of ['back', 'back and forth']) {
      const reference = `vanished:${nonceOf(name)}`;
      await ledger.credit({ agentId, amountRaw: 10n, reference, deposit: true });
    }
    await correct('back and forth', 'settled');
    const payout = payoutOf('done');
    const planned = payoutOf('planned');
    await ledger.withdrawAll({ agentId, reference: 'close', payout });
    await ledger.paid({ agentId, nonce: payout.nonce, amountRaw: 960n, txHash: '0x1' });
    const nonces = [...names.map(nonceOf), payout.nonce, planned.nonce];
    expect([...(await store.findUntaken(nonces))].sort()).toEqual(
      [...['open', 'released', 'back'].map(nonceOf), planned.nonce].sort(),
    );
    expect(await store.findUntaken([])).toEqual(new Set());
    const wrong = (await checkInvariants(db.sql)).filter((found) => found.agentId === agentId);
    expect(wrong).toEqual([]);
  });

  it("the audit's book has each credit of one transaction to one wallet, and none of another", async () => {
    const [agentId = 0] = await wallets(1);
    const group = `deposit:0xab:${walletOf(agentId)}`;
    const references = [`${group}:0`, `${group}:12`, `${group}0:0`, `deposit:0xac:x:0`];
    for (const [i, reference] of references.entries()) {
      await ledger.credit({ agentId, amountRaw: BigInt(i + 1), reference, deposit: true });
    }
    expect(await findCredited(db.sql, [group, 'deposit:none'])).toEqual(
      new Map([
        [`${group}:0`, 1n],
        [`${group}:12`, 2n],
      ]),
    );
  });

  it("the audit's credits are found by id, however many postings there are", async () => {
    const agentId = 900_001;
    await db.sql`
      insert into postings (id, agent_id, code, asked_raw, debits, credits, amounts)
      select 'credit:deposit:many' || i || ':w:0', ${agentId}, 'funding.deposit', 1, '{}', '{}', '{}'
      from generate_series(1, 20000) i`;
    await db.sql`analyze postings`;
    const groups = Array.from({ length: 20 }, (_, i) => `deposit:many${i + 1}:w`);
    let found: ReadonlyMap<string, bigint> = new Map();
    const read = await rowsReadBy(db.sql, ['postings'], async (tx) => {
      found = await findCredited(tx, groups);
    });
    expect(found.size).toBe(groups.length);
    expect(read).toBeLessThan(100);
    await db.sql`delete from postings where agent_id = ${agentId}`;
  });
});
