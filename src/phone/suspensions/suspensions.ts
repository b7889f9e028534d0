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
    async suspend(accountId: string, reason: string): Promise<Suspension> {
      const made = await insertSuspension(sql, accountId, reason);
      if (made === undefined) throw adminErrors.notFound('There is no such account.');
      const { isNew, ...suspension } = made;
      if (isNew) log.warn({ accountId, reason }, 'the operator suspends a phone service');
      return suspension;
    },

    /** Lifts the suspension of an account. Throws when the account is not suspended. */
    async lift(accountId: string): Promise<void> {
      if (!(await deleteSuspension(sql, accountId))) {
        throw adminErrors.notFound('The phone service of this account alone is not suspended.');
      }
      log.warn({ accountId }, 'the operator lifts the suspension of a phone service');
    },

    /**
     * Lifts every suspension with this reason, including the suspension of all accounts. Returns the number of lifted
     * suspensions.
     */
    async liftAll(reason: string): Promise<number> {
      const lifted = await deleteSuspensionsOf(sql, reason);
      log.warn({ reason, lifted }, 'the operator lifts suspensions of phone services');
      return lifted;
    },
  };
}
