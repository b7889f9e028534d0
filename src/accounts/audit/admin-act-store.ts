import { storableJson, storableText } from '../../kernel/storable.ts';
import type { AdminAct } from '../../ledger/rules/companion.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';

/** An act of the operator as it was written. */
export type StoredAct = AdminAct & { readonly id: bigint; readonly at: Date };

/** Writes an act in the sql transaction that does it. */
export async function insertAct(tx: Queryable, act: AdminAct): Promise<void> {
  await tx`
    insert into admin_acts (act, target, detail, request_id, client_address)
    values (${act.act}, ${storableText(act.target)}, ${storableJson(act.detail)}::text::jsonb,
      ${act.requestId}, ${act.clientAddress})`;
}

/** Returns acts before an id, newest first. */
export function findActs(
  sql: Queryable,
  page: { readonly beforeId: bigint | undefined; readonly limit: number },
): Promise<StoredAct[]> {
  const { beforeId, limit } = page;
  return sql<StoredAct[]>`
    select id, at, act, target, detail, request_id as "requestId",
      client_address as "clientAddress"
    from admin_acts
    where ${beforeId === undefined ? sql`true` : sql`id < ${String(beforeId)}::bigint`}
    order by id desc limit ${limit}`;
}
