import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { createLedger } from '../../../src/ledger/engine/ledger.ts';
import { createLeaseKeeper } from '../../../src/ledger/engine/renew-lease.ts';
import { createSettleOrphans } from '../../../src/ledger/engine/settle-orphans.ts';
import { createBalanceStore } from '../../../src/ledger/store/balances.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { takeLease } from '../../../src/ledger/store/lease-store.ts';
import { claimOrphanSessions } from '../../../src/ledger/store/orphan-store.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import { testDatabase } from '../../support/database.ts';
import { seedAgent } from '../../support/ledger-world.ts';
import { moveOf, nonceOf, reservationOf } from '../../support/payments.ts';
import { LIVE_SESSION, processOn } from '../../support/reaping-process.ts';
import { DESTINATION, FACTS } from '../../support/spending.ts';

const LEASE_MS = 1_000;
/** Where a busy core must not make a process look dead that only came late. */
const PATIENT_LEASE_MS = 3_000;
const REAPED_WITHIN_MS = 20_000;

const SESSION = { ...LIVE_SESSION, sessionId: 'sess_1', reserveRaw: 100n } as const;

const REQUEST = { holdId: 'req_1', amountRaw: 50n, destination: DESTINATION } as const;

/** What all agents together have held. */
async function heldRaw(sql: Sql): Promise<bigint | undefined> {
  const [row] = await sql<{ held: bigint }[]>`
    select coalesce(sum(held_raw), 0)::bigint as held from agent_funds`;
  return row?.held;
}

/** A process that will die, and an agent that has 1,000 raw. */
async function dyingProcess(leaseMs: number, { deposit = false } = {}) {
  const db = await testDatabase();
  const { sql } = db;
  const { agentId, keyId } = await seedAgent(sql);
  const dead = await processOn(sql, 'dead', leaseMs);
  await dead.ledger.credit({ agentId, amountRaw: 1_000n, reference: 'start', deposit });
  const spender = { agentId, keyId };
  return { agentId, dead, spender, sql, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('what a dead process leaves behind', () => {
  it('a dead process’s session and hold are settled from the journal exactly once by two reaping processes', async () => {
    await using world = await dyingProcess(LEASE_MS);
    const { agentId, dead, sql } = world;
    const spender = { ...world.spender, taskId: 'task' };
    const opened = await dead.ledger.openSession({ ...SESSION, spender });
    if (opened.kind !== 'opened') throw new Error('refused');
    const { claim } = opened;
    const turn = (seq: number) => [{ seq, costRaw: 7n, usage: { text_output_token: 3 } }];
    expect(await dead.ledger.journal(claim, turn(1))).toBe('written');
    expect(await dead.ledger.journal(claim, turn(1))).toBe('written');
    expect(await dead.ledger.journal(claim, turn(2))).toBe('written');
    await dead.ledger.hold({ ...REQUEST, spender });

    const living = [
      await processOn(sql, 'b', PATIENT_LEASE_MS),
      await processOn(sql, 'c', PATIENT_LEASE_MS),
    ];
    const done = { sessions: 0, holds: 0 };
    const everyone = async () => {
      await Promise.all(
        living.map(async ({ lease, orphans }) => {
          await lease.tick();
          const found = await orphans.tick();
          done.sessions += found.sessions;
          done.holds += found.holds;
        }),
      );
      await pause(20);
    };
    const bound = performance.now() + REAPED_WITHIN_MS;
    while ((await heldRaw(sql)) !== 0n && performance.now() < bound) await everyone();
    // Two leases more, in which a second settlement would be seen.
    const until = performance.now() + 2 * PATIENT_LEASE_MS;
    while (performance.now() < until) await everyone();
    expect(done.sessions).toBe(1);
    expect(done.holds).toBeGreaterThanOrEqual(1);
    const charges = await sql`select cost_raw, usage, session_id, task_id from charges`;
    expect(charges).toEqual([
      { cost_raw: 14n, usage: { text_output_token: 6 }, session_id: 'sess_1', task_id: 'task' },
    ]);
    expect(await dead.ledger.funds(agentId)).toMatchObject({ spendableRaw: 986n, heldRaw: 0n });
    // How it went died with its process.
    expect(await sql`select end_reason, summary from sessions`).toEqual([
      { end_reason: 'process_lost', summary: null },
    ]);

    // The dead process was only slow: whatever it still says moves nothing.
    expect(await dead.ledger.journal(claim, turn(3))).toBe('lost');
    expect(await dead.ledger.extend(claim, 5n)).toEqual({ kind: 'lost' });
    const request = { actualRaw: 99n, account: 'gateway', source: 'local' } as const;
    expect(await dead.ledger.closeSession({ claim, reason: 'late', ...request })).toEqual({
      kind: 'already_resolved',
    });
    const hold = { holdId: 'req_1', agentId, amountRaw: 50n, facts: FACTS };
    expect(await dead.ledger.settle({ hold, ...request })).toEqual({ kind: 'already_resolved' });
    expect(await dead.ledger.funds(agentId)).toMatchObject({ spendableRaw: 986n, heldRaw: 0n });
    expect(await checkInvariants(sql)).toEqual([]);
  });

  it('orphans are settled even when one of them cannot be, and long expired leases are pruned', async () => {
    await using world = await dyingProcess(LEASE_MS);
    const { agentId, dead, spender, sql } = world;
    for (const sessionId of ['sess_1', 'sess_2', 'sess_3']) {
      await dead.ledger.openSession({ ...SESSION, sessionId, spender });
    }
    await dead.ledger.hold({ ...REQUEST, spender });
    await sql`update leases set expires_at = now() - interval '1 second'`;
    await sql`insert into leases (node_id, epoch, expires_at)
      values ('gone', 1, now() - interval '2 hours')`;

    const node = await takeLease(sql, 'living', LEASE_MS);
    const deps = { sql, node, clock: systemClock, log: silentLog };
    const ledger = createLedger({ ...deps, store: createBalanceStore(deps) });
    let poisoned = true;
    const closeSession: typeof ledger.closeSession = (request) =>
      poisoned && request.claim.sessionId === 'sess_1'
        ? Promise.reject(new Error('cannot be settled'))
        : ledger.closeSession(request);
    const orphans = createSettleOrphans({
      ...deps,
      ledger: { ...ledger, closeSession },
      lease: { mayReap: () => true },
      signal: new AbortController().signal,
    });
    expect(await orphans.tick()).toEqual({ sessions: 2, holds: 1 });
    expect(await ledger.funds(agentId)).toMatchObject({ heldRaw: 100n });
    expect(await sql`select node_id from leases order by node_id`).toEqual([
      { node_id: 'dead' },
      { node_id: 'living' },
    ]);
    poisoned = false;
    expect(await orphans.tick()).toEqual({ sessions: 1, holds: 0 });
    expect(await ledger.funds(agentId)).toMatchObject({ spendableRaw: 1_000n, heldRaw: 0n });
    expect(await checkInvariants(sql)).toEqual([]);
  });

  it('an orphaned session whose claim response was lost is settled at the next tick', async () => {
    await using world = await dyingProcess(LEASE_MS);
    const { agentId, dead, spender, sql } = world;
    await dead.ledger.openSession({ ...SESSION, spender });
    await sql`update leases set expires_at = now() - interval '1 second'`;

    const { atOnce, ledger, node } = await processOn(sql, 'living', REAPED_WITHIN_MS);
    await ledger.openSession({ ...SESSION, sessionId: 'sess_own', spender });
    const [taken] = await claimOrphanSessions(sql, node, 10);
    if (taken === undefined) throw new Error('nothing was claimed');
    expect(taken).toMatchObject({ sessionId: 'sess_1', epoch: 2 });

    expect(await atOnce.tick()).toEqual({ sessions: 1, holds: 0 });
    expect(await atOnce.tick()).toEqual({ sessions: 0, holds: 0 });
    // Its own living session is left alone.
    expect(await sql`select id, epoch from sessions where ended_at is null`).toEqual([
      { id: 'sess_own', epoch: 1 },
    ]);
    expect(await ledger.funds(agentId)).toMatchObject({ spendableRaw: 900n, heldRaw: 100n });
    expect(await checkInvariants(sql)).toEqual([]);
  });

  it('an orphaned session that was claimed again during its settlement is settled once', async () => {
    await using world = await dyingProcess(LEASE_MS);
    const { agentId, dead, spender, sql } = world;
    const opened = await dead.ledger.openSession({ ...SESSION, spender });
    if (opened.kind !== 'opened') throw new Error('refused');
    await sql`update leases set expires_at = now() - interval '1 second'`;
    const living = await processOn(sql, 'living', REAPED_WITHIN_MS);
    const close = (epoch: number) =>
      living.ledger.closeSession({
        claim: { ...opened.claim, epoch },
        reason: 'process_lost',
        actualRaw: 7n,
        account: 'gateway',
        source: 'local',
      });

    expect(await claimOrphanSessions(sql, living.node, 10)).toMatchObject([{ epoch: 2 }]);
    expect(await claimOrphanSessions(sql, living.node, 10)).toMatchObject([{ epoch: 3 }]);
    const verdicts = await Promise.all([close(2), close(3)]);
    expect(verdicts.map(({ kind }) => kind)).toEqual(['already_resolved', 'settled']);
    expect(await claimOrphanSessions(sql, living.node, 10)).toEqual([]);
    expect(await living.ledger.funds(agentId)).toMatchObject({ spendableRaw: 993n, heldRaw: 0n });
    expect(await checkInvariants(sql)).toEqual([]);
  });

  it('a signed payment of a dead process stays held, and its other holds are released', async () => {
    await using world = await dyingProcess(LEASE_MS, { deposit: true });
    const { agentId, dead, spender, sql } = world;
    for (const holdId of ['reserved', 'sent']) {
      const reservation = reservationOf(holdId);
      await dead.ledger.hold({ ...REQUEST, spender, holdId, reservation });
    }
    const sent = moveOf('sent', 'reserved', 'sent');
    expect(await dead.ledger.advance({ agentId, holdId: 'sent', move: sent })).toBe('moved');
    await dead.ledger.hold({ ...REQUEST, spender });
    await sql`update leases set expires_at = now() - interval '1 second'`;

    const { ledger, atOnce } = await processOn(sql, 'living', REAPED_WITHIN_MS);
    expect(await atOnce.tick()).toEqual({ sessions: 0, holds: 1 });
    expect(await atOnce.tick()).toEqual({ sessions: 0, holds: 0 });
    expect(await sql`select id from holds order by id`).toEqual([
      { id: 'reserved' },
      { id: 'sent' },
    ]);
    expect(await ledger.funds(agentId)).toMatchObject({ spendableRaw: 900n, heldRaw: 100n });

    const hold = { holdId: 'sent', agentId, amountRaw: 50n, facts: FACTS };
    const move = { nonce: nonceOf('sent'), from: 'sent', to: 'expired_unsettled' } as const;
    const none = { actualRaw: 0n, account: 'chain:usdc', source: 'x402' } as const;
    expect(await ledger.settle({ hold, move, ...none })).toMatchObject({ kind: 'settled' });
    expect(await ledger.funds(agentId)).toMatchObject({ spendableRaw: 950n, heldRaw: 50n });
    expect(await checkInvariants(sql)).toEqual([]);
  });

  it('a session of a dead process is left alone for one whole lease after a start', async () => {
    await using world = await dyingProcess(PATIENT_LEASE_MS);
    const { agentId, dead, spender, sql } = world;
    await dead.ledger.openSession({ ...SESSION, spender });
    await pause(PATIENT_LEASE_MS + 50);

    const fresh = await processOn(sql, 'fresh', PATIENT_LEASE_MS);
    await fresh.lease.tick();
    expect(fresh.lease.mayReap()).toBe(false);
    expect(await fresh.orphans.tick()).toEqual({ sessions: 0, holds: 0 });
    // Everybody was away, and the slow one comes back in time.
    await dead.lease.tick();
    const until = performance.now() + 2 * PATIENT_LEASE_MS;
    while (performance.now() < until) {
      await Promise.all([fresh.lease.tick(), dead.lease.tick()]);
      expect(await fresh.orphans.tick()).toEqual({ sessions: 0, holds: 0 });
      await pause(20);
    }
    expect(fresh.lease.mayReap()).toBe(true);
    expect(await fresh.ledger.funds(agentId)).toMatchObject({ heldRaw: 100n });
  });

  it('a process loses the right to reap when its node id is taken again', async () => {
    await using db = await testDatabase();
    const first = await takeLease(db.sql, 'n', LEASE_MS);
    const second = await takeLease(db.sql, 'n', LEASE_MS);
    expect([first.leaseEpoch, second.leaseEpoch]).toEqual([1, 2]);
    const keeper = createLeaseKeeper({
      sql: db.sql,
      clock: systemClock,
      log: silentLog,
      node: first,
      leaseMs: LEASE_MS,
    });
    await keeper.tick();
    expect(keeper.mayReap()).toBe(false);
  });
});
