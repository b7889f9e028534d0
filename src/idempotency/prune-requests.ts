import type { Worker } from '../kernel/schedule.ts';
import type { LeaseKeeper } from '../ledger/engine/renew-lease.ts';
import type { Sql } from '../platform/postgres/sql.ts';
import { pruneKeys } from './idempotency-store.ts';
import { IDEMPOTENCY_LIMITS } from './limits.ts';

/** Deletes expired idempotency keys and rate windows, `IDEMPOTENCY_LIMITS.prune.batch` at a time. Any number of processes may run it. */
export const pruneRequests = (deps: {
  readonly sql: Sql;
  readonly lease: Pick<LeaseKeeper, 'mayReap'>;
  /** Deletes at most `most` expired rate windows, and returns their number. */
  readonly pruneRateWindows: (most: number) => Promise<number>;
}): Worker => {
  const { sql, lease, pruneRateWindows } = deps;
  const batches = [
    () => pruneKeys(sql, IDEMPOTENCY_LIMITS.prune.batch, lease.mayReap()),
    () => pruneRateWindows(IDEMPOTENCY_LIMITS.prune.batch),
  ];
  return {
    name: 'prune-requests',
    everyMs: IDEMPOTENCY_LIMITS.prune.everyMs,
    async tick() {
      for (const batch of batches) {
        for (let n = 0; n < IDEMPOTENCY_LIMITS.prune.batchesPerTick; n++) {
          if ((await batch()) < IDEMPOTENCY_LIMITS.prune.batch) break;
        }
      }
    },
  };
};
