import { actOf, noteAct, type Operator } from '../../accounts/audit/admin-acts.ts';
import { adminErrors } from '../../accounts/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Suspension, TelephonyStop } from './suspension.ts';
import {
  deleteSuspension,
  deleteSuspensionsOf,
  findStop,
  findSuspensions,
  insertSuspension,
} from './suspension-store.ts';

export type SuspensionPage = {
  readonly suspensions: readonly Suspension[];
  /** Last account of the page, from which the next page continues. Null on the last page. */
  readonly nextCursor: string | null;
  /** Suspension of all accounts' phone service. Null: only the listed accounts are suspended. */
  readonly everyAccount: TelephonyStop | null;
};

export type Suspensions = ReturnType<typeof createSuspensions>;

/** Creates the operator's suspensions of phone service. Each change holds from its commit on, in every process. */
export function createSuspensions({ log, sql }: { readonly log: Log; readonly sql: Sql }) {
  return {
    /** Returns a page of all suspensions, by account. */
    async list(page: { readonly after: string; readonly limit: number }): Promise<SuspensionPage> {
      const found = await findSuspensions(sql, { ...page, limit: page.limit + 1 });
      const suspensions = found.slice(0, page.limit);
      const isMore = found.length > page.limit;
      const nextCursor = isMore ? (suspensions.at(-1)?.accountId ?? null) : null;
      return { suspensions, nextCursor, everyAccount: (await findStop(sql)) ?? null };
    },

    /**
     * Suspends an account and returns its suspension; an earlier suspension keeps its reason. Calls under way are not ended.
     */
    async suspend(accountId: string, reason: string, by?: Operator): Promise<Suspension> {
      const made = await sql.begin(async (tx) => {
        const found = await insertSuspension(tx, accountId, reason);
        const act = actOf(by, 'telephony.suspend', accountId, { reason });
        if (found?.isNew) await noteAct(tx, act);
        return found;
      });
      if (made === undefined) throw adminErrors.notFound('There is no such account.');
      const { isNew, ...suspension } = made;
      if (isNew) log.warn({ accountId, reason }, 'the operator suspends a phone service');
      return suspension;
    },

    /** Lifts the suspension of an account. Throws when the account is not suspended. */
    async lift(accountId: string, by?: Operator): Promise<void> {
      const isLifted = await sql.begin(async (tx) => {
        const isDeleted = await deleteSuspension(tx, accountId);
        if (isDeleted) await noteAct(tx, actOf(by, 'telephony.lift', accountId));
        return isDeleted;
      });
      if (!isLifted) {
        throw adminErrors.notFound('The phone service of this account alone is not suspended.');
      }
      log.warn({ accountId }, 'the operator lifts the suspension of a phone service');
    },

    /**
     * Lifts every suspension with this reason, including the suspension of all accounts. Returns the number of lifted
     * suspensions.
     */
    async liftAll(reason: string, by?: Operator): Promise<number> {
      const lifted = await sql.begin(async (tx) => {
        const deleted = await deleteSuspensionsOf(tx, reason);
        if (deleted > 0) {
          await noteAct(tx, actOf(by, 'telephony.lift_all', reason, { lifted: deleted }));
        }
        return deleted;
      });
      log.warn({ reason, lifted }, 'the operator lifts suspensions of phone services');
      return lifted;
    },
  };
}
