import { expect, it } from 'vitest';
import { LEDGER_LIMITS } from '../../../src/ledger/engine/limits.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { takeLease } from '../../../src/ledger/store/lease-store.ts';
import { claimOrphanSessions } from '../../../src/ledger/store/orphan-store.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import { testDatabase } from '../../support/database.ts';
import { seedAgent } from '../../support/ledger-world.ts';
import { LIVE_SESSION, processOn } from '../../support/reaping-process.ts';
import { DESTINATION } from '../../support/spending.ts';

const SESSION = { ...LIVE_SESSION, reserveRaw: 1n } as const;
const LEASE_MS = 60_000;
const ROUNDS = 20;
const SESSIONS = 20;
/** More than are settled at once. */
const MANY = 3 * LEDGER_LIMITS.orphans.perPass + 1;
const REAPERS = ['a', 'b', 'c', 'd'];

/** Ends the lease of the process that opened them, or gives it back. */
const setLease = (sql: Sql, lasts: string) =>
  sql`update leases set expires_at = now() + ${lasts}::interval where node_id = 'dead'`;

/** What a dead process has left, and one that lives. */
async function left(sessions: number) {
  const db = await testDatabase();
  const { sql } = db;
  const { agentId, keyId } = await seedAgent(sql);
  const { ledger } = await processOn(sql, 'dead', LEASE_MS);
  await ledger.credit({ agentId, amountRaw: 100_000n, reference: 'start' });
  const opened = await Promise.all(
    Array.from({ length: sessions }, (_, i) =>
      ledger.openSession({ ...SESSION, sessionId: `sess_${i}`, spender: { agentId, keyId } }),
    ),
  );
  const claims = opened.map((each) => {
    if (each.kind !== 'opened') throw new Error('refused');
    return each.claim;
  });
  const living = await processOn(sql, 'living', LEASE_MS);
  return { agentId, claims, db, ledger, living, orphans: living.atOnce, sql };
}

it('all sessions of a dead process are settled in one pass, which charges only what the journal has as bought', async () => {
  const { agentId, claims, db, ledger, living, orphans, sql } = await left(MANY);
  await using _db = db;
  const bought = claims[7];
  if (bought === undefined) throw new Error('too few');
  const usage = { text_output_token: 3 };
  expect(await ledger.journal(bought, [{ seq: 1, costRaw: 1n, usage }])).toBe('written');
  await setLease(sql, '-1 second');
  expect(await orphans.tick()).toEqual({ sessions: MANY, holds: 0 });
  expect(await living.ledger.funds(agentId)).toMatchObject({ heldRaw: 0n, spendableRaw: 99_999n });
  expect(await sql`select session_id, cost_raw, usage from charges`).toEqual([
    { session_id: 'sess_7', cost_raw: 1n, usage },
  ]);
  expect(await checkInvariants(sql)).toEqual([]);
});

it('a reaping process makes no further pass once it stops', async () => {
  const { db, orphans, sql } = await left(2);
  await using _db = db;
  await setLease(sql, '-1 second');
  const leaving = await processOn(sql, 'leaving', LEASE_MS, AbortSignal.abort());
  expect(await leaving.atOnce.tick()).toEqual({ sessions: 0, holds: 0 });
  expect(await orphans.tick()).toEqual({ sessions: 2, holds: 0 });
});

it('a process without a valid lease takes no orphaned session', async () => {
  const { db, ledger, orphans, sql } = await left(1);
  await using _db = db;
  const hold = { holdId: 'req_1', amountRaw: 5n, destination: DESTINATION };
  const [agent] = await sql<{ id: number }[]>`select agent_id as id from agent_funds`;
  await ledger.hold({ ...hold, spender: { agentId: agent?.id ?? 0 } });
  // The clock of the database has stepped on: no lease holds.
  await sql`update leases set expires_at = now() - interval '1 second'`;
  expect(await orphans.tick()).toEqual({ sessions: 0, holds: 0 });
  await sql`update leases set expires_at = now() + interval '1 minute' where node_id = 'living'`;
  expect(await orphans.tick()).toEqual({ sessions: 1, holds: 1 });
});

it('an orphaned session is given to one of several processes that reap concurrently', async () => {
  await using db = await testDatabase();
  const { sql } = db;
  const { agentId, keyId } = await seedAgent(sql);
  const { ledger } = await processOn(sql, 'dead', LEASE_MS);
  await ledger.credit({ agentId, amountRaw: 100_000n, reference: 'start' });
  const living = await Promise.all(REAPERS.map((name) => takeLease(sql, name, LEASE_MS)));
  for (let round = 0; round < ROUNDS; round++) {
    await setLease(sql, '1 minute');
    for (let i = 0; i < SESSIONS; i++) {
      const sessionId = `sess_${round}_${i}`;
      await ledger.openSession({ ...SESSION, sessionId, spender: { agentId, keyId } });
    }
    await setLease(sql, '-1 second');
    const takers = new Map<string, Set<string>>();
    await Promise.all(
      living.map(async (node) => {
        for (let look = 0; look < SESSIONS; look++) {
          for (const { sessionId } of await claimOrphanSessions(sql, node, 5)) {
            takers.set(sessionId, (takers.get(sessionId) ?? new Set()).add(node.nodeId));
          }
        }
      }),
    );
    expect(takers.size).toBe(SESSIONS);
    expect([...takers.values()].filter(({ size }) => size > 1)).toEqual([]);
    await sql`update sessions set ended_at = now()`;
  }
});
