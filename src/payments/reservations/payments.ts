import { actOf, noteAct, type Operator } from '../../accounts/audit/admin-acts.ts';
import { adminErrors } from '../../accounts/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { proxyErrors } from '../errors.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { PassthroughLog } from '../proxy/passthrough-log.ts';
import { type ReleaseDeps, releaseByChain } from '../reconcile/release-by-chain.ts';
import { callRecord } from './history.ts';
import { findProxyCalls } from './history-store.ts';
import { type Reservation, reservationRecord } from './reservation.ts';
import { findReservation } from './reservation-store.ts';

export type Payments = ReturnType<typeof createPayments>;

/** Creates the reads of proxy payments for agents and the operator, and the operator's release by hand. */
export function createPayments(
  deps: Omit<ReleaseDeps, 'reload'> & {
    readonly sql: Sql;
    readonly ledger: Pick<Ledger, 'settled'>;
    readonly log: Log;
    /** Log of calls without a payment on the chain. Flushed before a read, so that no queued line is missing. */
    readonly passthroughs: Pick<PassthroughLog, 'flush'>;
  },
) {
  const { sql } = deps;
  const find = (text: string, agentId?: number): Promise<Reservation | undefined> => {
    const nonce = text.toLowerCase();
    return NONCE.test(nonce) ? findReservation(sql, nonce, agentId) : Promise.resolve(undefined);
  };

  return {
    /** Returns an agent's reservation. Throws the refusal also for a reservation of another agent. */
    async reservation(agentId: number, nonce: string) {
      await deps.ledger.settled(agentId);
      const row = await find(nonce, agentId);
      if (row === undefined) throw proxyErrors.reservationNotFound();
      return reservationRecord(row);
    },

    /** Returns a page of an agent's calls, newest first; `nextCursor` is null on the last page. */
    async history(
      agentId: number,
      { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
    ) {
      const most = Math.min(Math.max(limit, 1), PAYMENT_LIMITS.historyPage.most);
      const page = { beforeId: idBefore(cursor), limit: most + 1 };
      // Waits for this process's pending writes, so that the history has the call that the agent has just made.
      await Promise.all([deps.ledger.settled(agentId), deps.passthroughs.flush()]);
      const found = await findProxyCalls(sql, agentId, page);
      const rows = found.slice(0, most);
      const hasMore = found.length > most;
      return {
        transactions: rows.map((row) => callRecord(agentId, row)),
        nextCursor: hasMore ? (rows.at(-1)?.id ?? null) : null,
        hasMore,
      };
    },

    /** Requests the end of a reservation for the operator. Only the chain ends a reservation, so the chain is read at once. */
    async release(nonce: string, by?: Operator) {
      const row = await find(nonce);
      if (row === undefined) throw adminErrors.notFound('There is no such reservation.');
      // The chain decides and not this request, so the trail says that the release was asked for.
      const act = actOf(by, 'reservation.release', row.nonce, { agentId: row.agentId });
      await noteAct(sql, act);
      return reservationRecord(
        await releaseByChain({ ...deps, reload: (known) => findReservation(sql, known) }, row),
      );
    },
  };
}

const NONCE = /^0x[0-9a-f]{64}$/;

/** Pattern of a cursor: the id of the last call on the previous page. Ids begin at 1. */
const CURSOR = /^[1-9]\d{0,14}$/;

function idBefore(cursor: string | undefined): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER;
  if (!CURSOR.test(cursor)) throw proxyErrors.invalidCursor();
  return Number(cursor);
}
