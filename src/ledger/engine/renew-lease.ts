import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { answerWithin } from '../../platform/postgres/transient.ts';
import type { Node } from '../rules/node.ts';
import { endLease, type OpenWork, renewLease } from '../store/lease-store.ts';
import { LEDGER_LIMITS } from './limits.ts';

export type LeaseKeeper = {
  /** Renews the lease now. Rejects when the database is away. Called every `LEDGER_LIMITS.lease.renewMs` milliseconds. */
  tick(): Promise<void>;
  /**
   * Returns true when expired leases of other processes may be reaped: after this process has renewed without a gap for one
   * whole lease. After a start or an outage all leases have expired, including the leases of living processes.
   */
  mayReap(): boolean;
  /** Names the reader of the work that is written with each renewal. */
  reportsWork(read: () => OpenWork): void;
  /** Ends the lease at a clean shutdown. */
  end(): Promise<void>;
};

/**
 * Creates the keeper of this process's lease. Leases expire by the database's clock; the wait before reaping is measured here.
 */
export function createLeaseKeeper(deps: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  /** The process's node, whose lease was taken just now. */
  readonly node: Node;
  readonly leaseMs?: number;
}): LeaseKeeper {
  const { sql, clock, log, node } = deps;
  const leaseMs = deps.leaseMs ?? LEDGER_LIMITS.lease.lifeMs;
  let renewedMs = clock.monotonicMs();
  let steadySinceMs: number | undefined = renewedMs;
  let openWork: (() => OpenWork) | undefined;

  return {
    async tick() {
      const now = clock.monotonicMs();
      if (now - renewedMs >= leaseMs) steadySinceMs = undefined;
      try {
        // A renewal that hangs must not delay the next renewal, which uses another connection.
        const renewal = renewLease(sql, node, leaseMs, openWork?.());
        const found = await answerWithin(clock, LEDGER_LIMITS.lease.answerMs, renewal);
        if (found === 'taken') {
          log.error({ nodeId: node.nodeId }, 'the lease of this process was taken by another one');
          steadySinceMs = undefined;
          return;
        }
        // The database's time has advanced further than this process's time, so that all leases may have expired.
        if (found === 'lapsed') steadySinceMs = undefined;
      } catch (error) {
        steadySinceMs = undefined;
        throw error;
      }
      renewedMs = clock.monotonicMs();
      steadySinceMs ??= renewedMs;
    },
    mayReap() {
      const now = clock.monotonicMs();
      if (steadySinceMs === undefined || now - renewedMs >= leaseMs) return false;
      return now - steadySinceMs >= leaseMs;
    },
    reportsWork(read) {
      openWork = read;
    },
    end: () => endLease(sql, node),
  };
}
