import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Suspension } from './suspension.ts';

const columns = (sql: Queryable) =>
  sql`account_id as "accountId", reason, created_at as "createdAt"`;

/** By account, those after `after`. */
export async function findSuspensions(
  sql: Queryable,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly Suspension[]> {
  return sql<Suspension[]>`
    select ${columns(sql)} from telephony_suspensions
    where account_id > ${after} order by account_id limit ${limit}`;
}

/** The suspension that the account has afterwards: an earlier one stays. Undefined: there is no such account. */
export async function insertSuspension(
  sql: Queryable,
  accountId: string,
  reason: string,
): Promise<(Suspension & { readonly isNew: boolean }) | undefined> {
  const [made] = await sql<Suspension[]>`
    insert into telephony_suspensions (account_id, reason)
    select account_id, ${reason} from developers where account_id = ${accountId}
    on conflict do nothing returning ${columns(sql)}`;
  if (made !== undefined) return { ...made, isNew: true };
  const [known] = await sql<Suspension[]>`
    select ${columns(sql)} from telephony_suspensions where account_id = ${accountId}`;
  return known && { ...known, isNew: false };
}

/** Whether it was there. */
export async function deleteSuspension(sql: Queryable, accountId: string): Promise<boolean> {
  const rows = await sql`
    delete from telephony_suspensions where account_id = ${accountId} returning 1`;
  return rows.length > 0;
}

/** How many there were. */
export async function deleteSuspensionsOf(sql: Queryable, reason: string): Promise<number> {
  const rows = await sql`delete from telephony_suspensions where reason = ${reason} returning 1`;
  return rows.length;
}
