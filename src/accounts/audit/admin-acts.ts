import type { AdminAct } from '../../ledger/rules/companion.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { findActs, insertAct } from './admin-act-store.ts';

/** Request by which the operator acts. Undefined for work of the server itself, which is not in the trail. */
export type Operator = Pick<AdminAct, 'requestId' | 'clientAddress'> | undefined;

/** Returns the act of an operator. Undefined without an operator. */
export const actOf = (
  by: Operator,
  act: string,
  target: string | number,
  detail: AdminAct['detail'] = {},
): AdminAct | undefined =>
  by && {
    act,
    target: String(target),
    detail,
    requestId: by.requestId,
    clientAddress: by.clientAddress,
  };

/** Writes an act in the sql transaction that does it. */
export const noteAct = async (tx: Queryable, act: AdminAct | undefined): Promise<void> => {
  if (act !== undefined) await insertAct(tx, act);
};

export type AuditTrail = ReturnType<typeof createAuditTrail>;

/** Creates the reads of the operator's acts. */
export function createAuditTrail({ sql }: { readonly sql: Queryable }) {
  return {
    /** Returns a page of acts, newest first. `next` is the last id of the page, and undefined on the last page. */
    async list(page: { readonly beforeId: bigint | undefined; readonly limit: number }) {
      const found = await findActs(sql, { ...page, limit: page.limit + 1 });
      const acts = found.slice(0, page.limit);
      const next = found.length > page.limit ? acts.at(-1)?.id : undefined;
      return { acts, next };
    },
  };
}
