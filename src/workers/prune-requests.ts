import { LIMITS } from '../kernel/limits.ts';
import { pruneKeys } from '../store/idempotency-store.ts';
import { pruneRateWindows } from '../store/rate-store.ts';
import type { Sql } from '../store/sql.ts';
import type { LeaseKeeper } from './renew-lease.ts';
import type { Worker } from './schedule.ts';

/** Idempotency keys and rate windows that are over go, so many at a time. Any number of processes may run it. */
export const pruneRequests = (deps: {
  readonly sql: Sql;
  readonly lease: Pick<LeaseKeeper, 'mayReap'>;
}): Worker => {
  const { sql, lease } = deps;
  const batches = [
    () => pruneKeys(sql, LIMITS.pruneBatch, lease.mayReap()),
    () => pruneRateWindows(sql, 2 * LIMITS.rateWindowMs, LIMITS.pruneBatch),
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
