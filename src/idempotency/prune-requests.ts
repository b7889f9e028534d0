import { LIMITS } from '../kernel/limits.ts';
import type { Worker } from '../kernel/schedule.ts';
import type { LeaseKeeper } from '../ledger/engine/renew-lease.ts';
import type { Sql } from '../platform/postgres/sql.ts';
import { pruneKeys } from './idempotency-store.ts';

/** Deletes expired idempotency keys and rate windows, `LIMITS.pruneBatch` at a time. Any number of processes may run it. */
export const pruneRequests = (deps: {
  readonly sql: Sql;
  readonly lease: Pick<LeaseKeeper, 'mayReap'>;
  /** Deletes at most `most` expired rate windows, and returns their number. */
  readonly pruneRateWindows: (most: number) => Promise<number>;
}): Worker => {
  const { sql, lease, pruneRateWindows } = deps;
  const batches = [
    () => pruneKeys(sql, LIMITS.pruneBatch, lease.mayReap()),
    () => pruneRateWindows(LIMITS.pruneBatch),
  ];
  return {
    name: 'prune-requests',
    everyMs: LIMITS.pruneEveryMs,
    async tick() {
      for (const batch of batches) {
        for (let n = 0; n < LIMITS.pruneBatchesPerTick; n++) {
          if ((await batch()) < LIMITS.pruneBatch) break;
        }
      }
    },
  };
};
