import { expect, it } from 'vitest';
import { createLedger } from '../../src/actors/ledger.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { createBalanceStore } from '../../src/store/balance-store.ts';
import { takeLease } from '../../src/store/lease-store.ts';
import { claimOrphanSessions } from '../../src/store/orphan-store.ts';
import type { Sql } from '../../src/store/sql.ts';
import { testDatabase } from '../support/database.ts';
import { seedAgent } from '../support/ledger-world.ts';
import { DESTINATION } from '../support/spending.ts';

const SESSION = {
  reserveRaw: 1n,
  kind: 'realtime',
  target: 'gateway://local/guide',
  model: 'local/guide',
  destination: DESTINATION,
  account: 'gateway',
} as const;
const LEASE_MS = 60_000;
const ROUNDS = 20;
const SESSIONS = 20;
const REAPERS = ['a', 'b', 'c', 'd'];

/** Ends the lease of the process that opened them, or gives it back. */
const setLease = (sql: Sql, lasts: string) =>
  sql`update leases set expires_at = now() + ${lasts}::interval where node_id = 'dead'`;

it('gives each orphaned session to one of several processes that look at once', async () => {
  await using db = await testDatabase();
  const { sql } = db;
  const { agentId, keyId } = await seedAgent(sql);
  const node = await takeLease(sql, 'dead', LEASE_MS);
  const deps = { sql, node, clock: systemClock, log: silentLog };
  const ledger = createLedger({ ...deps, store: createBalanceStore(deps) });
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
