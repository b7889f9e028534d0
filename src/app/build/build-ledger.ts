import { API_VERSION } from '../../http/server/api-version.ts';
import { randomHex } from '../../kernel/random.ts';
import { startWorkers } from '../../kernel/schedule.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import { checkLedger } from '../../ledger/engine/check-ledger.ts';
import { createLedger } from '../../ledger/engine/ledger.ts';
import { watchLedger } from '../../ledger/engine/ledger-metrics.ts';
import { LEDGER_LIMITS } from '../../ledger/engine/limits.ts';
import { createLeaseKeeper, type LeaseKeeper } from '../../ledger/engine/renew-lease.ts';
import { createSettleOrphans } from '../../ledger/engine/settle-orphans.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { Node } from '../../ledger/rules/node.ts';
import { createBalanceStore } from '../../ledger/store/balances.ts';
import { takeLease } from '../../ledger/store/lease-store.ts';
import { createDatabaseClock, type DatabaseClock } from '../../platform/postgres/database-clock.ts';
import { createAlarmBell } from '../../reports/operator/operator-reports.ts';
import type { World } from './world.ts';

export type LedgerParts = {
  readonly ledger: Ledger;
  /** Id of this process among all processes on the database, with its lease. */
  readonly node: Node;
  readonly lease: LeaseKeeper;
  /** The database's clock, which all processes share. */
  readonly time: DatabaseClock;
  /** Registers a listener that is called when a cap suspends an agent in this process. */
  whenSuspended(listener: (agentId: number) => void): void;
};

/** Builds the ledger, the lease of this process, the settlement of dead processes' holds, and the self-check. */
export async function buildLedger(world: World, teardown: Teardown): Promise<LedgerParts> {
  const { sql } = world;
  // The lease is taken before the first hold, since a hold of a process without a lease looks orphaned.
  const { lifeMs } = LEDGER_LIMITS.lease;
  const node = await takeLease(sql, randomHex(world.random, 16), lifeMs, API_VERSION);
  const lease = createLeaseKeeper({ ...world, node });
  teardown.defer('lease', () => lease.end());
  const time = createDatabaseClock(world.clock);
  await time.measure(sql);
  const store = createBalanceStore({ sql: world.ledgerSql, node });
  const listeners: ((agentId: number) => void)[] = [];
  const ledger = createLedger({
    ...world,
    store,
    now: time.now,
    renewLease: lease.tick,
    onSuspended: (agentId) => {
      for (const listener of listeners) listener(agentId);
    },
  });
  teardown.use('ledger', ledger);
  watchLedger(world.metrics, ledger);
  const stopping = new AbortController();
  const { signal } = stopping;
  const orphans = createSettleOrphans({ ...world, ledger, lease, node, signal });
  const ring = createAlarmBell(world);
  checkLedger({ ...world, signal })
    .then((violations) => {
      if (violations.length > 0) ring('ledger_violation');
    })
    .catch((error: unknown) => {
      if (!signal.aborted) world.log.error({ err: error }, 'the ledger could not be checked');
    });
  teardown.use(
    'ledger workers',
    startWorkers(world, [
      { name: 'renew-lease', everyMs: LEDGER_LIMITS.lease.renewMs, tick: lease.tick },
      {
        name: 'measure-clock',
        everyMs: LEDGER_LIMITS.lease.renewMs,
        tick: () => time.measure(sql),
      },
      {
        name: 'settle-orphans',
        everyMs: LEDGER_LIMITS.lease.renewMs,
        tick: async () => void (await orphans.tick()),
      },
    ]),
  );
  // The shutdown does not wait for a running query of the self-check: closing the pool ends the query.
  teardown.defer('self-check', () => stopping.abort());
  const whenSuspended: LedgerParts['whenSuspended'] = (listener) => void listeners.push(listener);
  return { ledger, node, lease, time, whenSuspended };
}
