import { actOf, noteAct, type Operator } from '../../accounts/audit/admin-acts.ts';
import { adminErrors } from '../../accounts/errors.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { findCallLimit, saveCallLimit } from './call-limit-store.ts';

/** The most calls of an account at a time. Null: the operator has set no number for this account. */
export type CallLimit = { readonly accountId: string; readonly concurrentCalls: number | null };

export type CallLimits = ReturnType<typeof createCallLimits>;

/** Creates the service of the operator's limits of calls at a time. Both methods throw `not_found` for an unknown account. */
export function createCallLimits({ sql }: { readonly sql: Sql }) {
  async function read(accountId: string): Promise<CallLimit> {
    const concurrentCalls = await findCallLimit(sql, accountId);
    if (concurrentCalls === undefined) throw adminErrors.notFound('There is no such account.');
    return { accountId, concurrentCalls };
  }
  return {
    read,
    async set(
      accountId: string,
      concurrentCalls: number | null,
      by?: Operator,
    ): Promise<CallLimit> {
      const before = await read(accountId);
      if (before.concurrentCalls === concurrentCalls) return before;
      await sql.begin(async (tx) => {
        await saveCallLimit(tx, accountId, concurrentCalls);
        await noteAct(tx, actOf(by, 'call_limit.set', accountId, { concurrentCalls }));
      });
      return read(accountId);
    },
  };
}
