import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import { claimCursor, giveCursorBack } from './chain-cursor-store.ts';
import { type ReconcileDeps, type Reconciled, reconcile } from './reconcile.ts';
import type { Audited, WalletAuditor } from './wallet-auditor.ts';

export type ReconcilePayments = {
  /** Reads the chain on, unless another process does. Returns the result of the reading. */
  tick(): Promise<Reconciled | 'busy'>;
};

/**
 * Creates the reconciler. One process at a time reads the chain for all; when it dies, another process takes over. After a
 * failed reading the next reading covers fewer blocks, since the blocks may hold more logs than the node returns at once; after
 * a successful reading, more blocks.
 */
export function createReconcilePayments(
  deps: ReconcileDeps & {
    readonly sql: Sql;
    /** Id of this process among the processes on the database. */
    readonly nodeId: string;
    readonly clock: Clock;
    readonly log: Log;
    readonly onDone?: (done: Reconciled) => void;
    /** Reads earlier blocks again, under the same claim. */
    readonly auditor: WalletAuditor;
    readonly onAudited?: (audited: Audited) => void;
  },
): ReconcilePayments {
  const { sql, nodeId, clock, log } = deps;
  const { least, most, fewer, more } = PAYMENT_LIMITS.chain.blocksPerTick;
  let blocks: number = most;
  return {
    async tick() {
      const claim = await claimCursor(sql, nodeId, PAYMENT_LIMITS.chain.claimMs);
      if (claim.kind === 'busy') return 'busy';
      const startedMs = clock.monotonicMs();
      let done: Reconciled | undefined;
      try {
        done = await reconcile(deps, claim.cursor, blocks);
        blocks = Math.min(most, blocks * more);
        const { current } = done;
        const audited = current && (await deps.auditor.run(current));
        if (audited !== undefined) deps.onAudited?.(audited);
      } catch (error) {
        blocks = Math.max(least, Math.floor(blocks / fewer));
        throw error;
      } finally {
        await giveCursorBack(sql, nodeId, claim.cursor, done?.readTo);
      }
      const { settled, released, deposits, left } = done;
      if (settled + released + deposits > 0) {
        const tookMs = Math.round(clock.monotonicMs() - startedMs);
        log.info({ settled, released, deposits, left, tookMs }, 'payments were reconciled');
      }
      deps.onDone?.(done);
      return done;
    },
  };
}
