import { createLedger } from '../actors/ledger.ts';
import { watchLedger } from '../actors/ledger-metrics.ts';
import { LIMITS } from '../kernel/limits.ts';
import { randomHex } from '../kernel/random.ts';
import type { Teardown } from '../kernel/teardown.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Node } from '../store/apply-batch.ts';
import { createBalanceStore } from '../store/balance-store.ts';
import { createDatabaseClock, type DatabaseClock } from '../store/database-clock.ts';
import { takeLease } from '../store/lease-store.ts';
import { checkLedger } from '../workers/check-ledger.ts';
import { createLeaseKeeper, type LeaseKeeper } from '../workers/renew-lease.ts';
import { startWorkers } from '../workers/schedule.ts';
import { createSettleOrphans } from '../workers/settle-orphans.ts';
import type { World } from './world.ts';

export type LedgerParts = {
  readonly ledger: Ledger;
  /** This process among those on the database, and its sign of life. */
  readonly node: Node;
  readonly lease: LeaseKeeper;
  /** The one time that all processes have in common. */
  readonly time: DatabaseClock;
  /** Hears at once of an agent that one of its caps has stopped, in this process. */
  whenSuspended(listener: (agentId: number) => void): void;
};

/** The ledger with what lives beside it: this process's lease, the reaper of the dead, the self-check. */
export async function buildLedger(world: World, teardown: Teardown): Promise<LedgerParts> {
  const { sql } = world;
  // Before the first hold: what a process without a lease holds looks orphaned.
  const node = await takeLease(sql, randomHex(world.random, 16), LIMITS.leaseMs);
  const lease = createLeaseKeeper({ ...world, node });
  teardown.defer('lease', () => lease.end());
  const time = createDatabaseClock(world.clock);
  await time.measure(sql);
  const store = createBalanceStore({ sql: world.ledgerSql, node });
  const listeners: ((agentId: number) => void)[] = [];
  const ledger = createLedger({
    ...{ ...world, store, now: time.now, renewLease: lease.tick },
    onSuspended: (agentId) => {
      for (const listener of listeners) listener(agentId);
    },
  });
  teardown.use('ledger', ledger);
  watchLedger(world.metrics, ledger);
  const stopping = new AbortController();
  const { signal } = stopping;
  const orphans = createSettleOrphans({ ...world, ledger, lease, node, signal });
  checkLedger({ ...world, signal }).catch((error: unknown) => {
    if (!signal.aborted) world.log.error({ err: error }, 'the ledger could not be checked');
  });
  teardown.use(
    'ledger workers',
    startWorkers(world, [
      { name: 'renew-lease', everyMs: LIMITS.leaseRenewMs, tick: lease.tick },
      { name: 'measure-clock', everyMs: LIMITS.leaseRenewMs, tick: () => time.measure(sql) },
      {
        name: 'settle-orphans',
        everyMs: LIMITS.leaseRenewMs,
        tick: async () => void (await orphans.tick()),
      },
    ]),
  );
  // A query of the check that is under way is not waited for here: the pool ends it with what else is left.
  teardown.defer('self-check', () => stopping.abort());
  const whenSuspended: LedgerParts['whenSuspended'] = (listener) => void listeners.push(listener);
  return { ledger, node, lease, time, whenSuspended };
}
