import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { type ChargeRow, chargeRow } from '../rules/companion.ts';
import { makerOf } from '../rules/destination.ts';
import type { Ledger } from '../rules/ledger.ts';
import type { Node } from '../rules/node.ts';
import { pruneLeases } from '../store/lease-store.ts';
import {
  claimOrphanSessions,
  endSession,
  findHold,
  findOrphanHolds,
  type Journal,
  type OrphanSession,
  readJournal,
} from '../store/orphan-store.ts';
import { LEDGER_LIMITS } from './limits.ts';
import type { LeaseKeeper } from './renew-lease.ts';

const REASON = 'process_lost';

/** Number of orphans that one pass found, and number of orphans that the pass resolved. */
type Pass = { readonly found: number; readonly ended: number };

export type SettleOrphans = {
  /**
   * Settles or releases a bounded number of the sessions and holds that dead processes left. Returns the number of each that
   * ended.
   */
  tick(): Promise<{ readonly sessions: number; readonly holds: number }>;
};

/**
 * Settles the sessions of dead processes from their journals and releases the holds of their requests. Any number of processes
 * may run this, because a second attempt moves no money.
 */
export function createSettleOrphans(deps: {
  readonly sql: Sql;
  readonly ledger: Ledger;
  readonly lease: Pick<LeaseKeeper, 'mayReap'>;
  readonly node: Node;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the process stops. */
  readonly signal: StopSignal;
}): SettleOrphans {
  const { sql, ledger, lease, node, clock, log, signal } = deps;
  async function settleSessions(): Promise<Pass> {
    const claimed = await claimOrphanSessions(sql, node, LEDGER_LIMITS.orphans.perPass);
    const settled = await Promise.all(
      claimed.map(async (session) => {
        try {
          return await settleSession(session);
        } catch (err) {
          const { sessionId, agentId } = session;
          log.error(
            { err, sessionId, agentId },
            'an orphaned session was not settled; tried again',
          );
          return false;
        }
      }),
    );
    return { found: claimed.length, ended: settled.filter(Boolean).length };
  }

  /** Settles one orphaned session. Returns true when this process ended it. */
  async function settleSession(session: OrphanSession): Promise<boolean> {
    const hold = await findHold(sql, session.sessionId);
    if (hold === undefined) return endSession(sql, session, REASON);
    // The journal is read after the claim, because from then on the former process cannot append to it.
    const journal = await readJournal(sql, session.sessionId);
    const { sessionId, epoch, agentId } = session;
    const verdict = await ledger.closeSession({
      claim: { sessionId, epoch, hold },
      reason: REASON,
      actualRaw: journal.costRaw,
      account: session.account,
      source: session.model.split('/')[0] ?? session.model,
      // A session without a charge leaves no line of history, as when its own process ends it.
      ...(journal.costRaw > 0n && {
        charges: (chargedRaw: bigint) => [
          chargeOf(session, journal, chargedRaw, clock.now() - session.openedMs),
        ],
      }),
    });
    log.warn(
      { sessionId, agentId, costRaw: `${journal.costRaw}`, verdict: verdict.kind },
      'settled the session of a dead process from its journal',
    );
    return verdict.kind === 'settled';
  }

  async function releaseHolds(): Promise<Pass> {
    const holds = await findOrphanHolds(sql, node, LEDGER_LIMITS.orphans.perPass);
    const verdicts = await Promise.all(
      holds.map((hold) =>
        ledger.settle({ hold, actualRaw: 0n, account: 'gateway', source: REASON }),
      ),
    );
    const ended = verdicts.filter(({ kind }) => kind === 'settled').length;
    if (ended > 0) log.warn({ holds: ended }, 'released the holds of a dead process');
    return { found: holds.length, ended };
  }

  /**
   * Repeats a pass while it finds the full number of orphans and ends some of them. Stops when this process stops or loses its
   * lease.
   */
  async function drain(pass: () => Promise<Pass>): Promise<number> {
    let ended = 0;
    for (let passes = 0; passes < LEDGER_LIMITS.orphans.passesPerTick; passes++) {
      if (signal.aborted || !lease.mayReap()) break;
      const last = await pass();
      ended += last.ended;
      if (last.found < LEDGER_LIMITS.orphans.perPass || last.ended === 0) break;
    }
    return ended;
  }

  return {
    async tick() {
      if (!lease.mayReap()) return { sessions: 0, holds: 0 };
      const [sessions, holds] = [drain(settleSessions), drain(releaseHolds)];
      // A failure of one pass does not stop the other pass. It is thrown when both are done.
      await Promise.allSettled([sessions, holds]);
      await pruneLeases(sql, LEDGER_LIMITS.lease.retentionMs);
      return { sessions: await sessions, holds: await holds };
    },
  };
}

const chargeOf = (
  session: OrphanSession,
  { usage }: Journal,
  costRaw: bigint,
  latencyMs: number,
): ChargeRow =>
  chargeRow(session, {
    targetUrl: session.target,
    targetHost: makerOf(session.model),
    method: 'GET',
    status: 'failed',
    costRaw,
    model: session.model,
    usage,
    sessionId: session.sessionId,
    latencyMs,
  });
