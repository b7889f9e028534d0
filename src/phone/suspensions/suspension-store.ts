import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Suspension, TelephonyStop } from './suspension.ts';

const columns = (sql: Queryable) =>
  sql`account_id as "accountId", reason, created_at as "createdAt"`;

/** Returns a page of suspensions, sorted by account, from the first account after `after`. */
export async function findSuspensions(
  sql: Queryable,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly Suspension[]> {
  return sql<Suspension[]>`
    select ${columns(sql)} from telephony_suspensions
    where account_id > ${after} order by account_id limit ${limit}`;
}

/**
 * Suspends the phone service of an account, and returns its suspension; an earlier suspension stays. Undefined when there is no
 * such account.
 */
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

/** Lifts the suspension of an account. Returns true when there was one. */
export async function deleteSuspension(sql: Queryable, accountId: string): Promise<boolean> {
  const rows = await sql`
    delete from telephony_suspensions where account_id = ${accountId} returning 1`;
  return rows.length > 0;
}

/** Lifts all suspensions of a reason, and a stop of every account. Returns their number. */
export async function deleteSuspensionsOf(sql: Queryable, reason: string): Promise<number> {
  const rows = await sql`
    with stopped as (delete from telephony_stops where reason = ${reason} returning 1),
      suspended as (delete from telephony_suspensions where reason = ${reason} returning 1)
    select from stopped union all select from suspended`;
  return rows.length;
}

/** Stops the phone service of every account, including accounts that are opened or rent their first number later. */
export async function stopTelephony(sql: Queryable, reason: string): Promise<void> {
  await sql`insert into telephony_stops (reason) values (${reason}) on conflict do nothing`;
}

/** Returns the stop of every account's phone service. Undefined when the service is on. */
export async function findStop(sql: Queryable): Promise<TelephonyStop | undefined> {
  const [row] = await sql<TelephonyStop[]>`
    select reason, created_at as "createdAt" from telephony_stops order by created_at limit 1`;
  return row;
}
