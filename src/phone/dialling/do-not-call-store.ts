import { textArray } from '../../platform/postgres/pg-array.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { PHONE_LIMITS } from '../limits.ts';

/** A number on an account's do-not-call list. */
export type DoNotCallEntry = { readonly phoneNumber: string; readonly createdAt: Date };

/** Locks the list of an account, so that entries are added one after another and the limit holds. */
export async function lockEntries(tx: Queryable, accountId: string): Promise<void> {
  await tx`select 1 from developers where account_id = ${accountId} for no key update`;
}

/**
 * Adds a number unless it is listed, and returns its entry. Undefined when the list is full. The caller must hold the account's
 * lock.
 */
export async function insertEntry(
  tx: Queryable,
  accountId: string,
  phoneNumber: string,
): Promise<DoNotCallEntry | undefined> {
  await tx`
    insert into do_not_call (account_id, phone_number)
    select ${accountId}, ${phoneNumber}
    where (select count(*) from do_not_call where account_id = ${accountId})
      < ${PHONE_LIMITS.doNotCall.entries}
    on conflict do nothing`;
  return findEntry(tx, accountId, phoneNumber);
}

export async function findEntry(
  sql: Queryable,
  accountId: string,
  phoneNumber: string,
): Promise<DoNotCallEntry | undefined> {
  const [row] = await sql<DoNotCallEntry[]>`
    select phone_number as "phoneNumber", created_at as "createdAt" from do_not_call
    where account_id = ${accountId} and phone_number = ${phoneNumber}`;
  return row;
}

/** Returns the given numbers that are on the list. */
export async function findListed(
  sql: Queryable,
  accountId: string,
  phoneNumbers: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ phone_number: string }[]>`
    select phone_number from do_not_call
    where account_id = ${accountId} and phone_number = any (${textArray(phoneNumbers)}::text[])`;
  return new Set(rows.map(({ phone_number }) => phone_number));
}

/** Returns a page of an account's list, sorted by number, from the first number after `after`. */
export async function findEntries(
  sql: Queryable,
  accountId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly DoNotCallEntry[]> {
  return sql<DoNotCallEntry[]>`
    select phone_number as "phoneNumber", created_at as "createdAt" from do_not_call
    where account_id = ${accountId} and phone_number > ${after}
    order by phone_number limit ${limit}`;
}

/** Takes a number off the list. Returns true when it was there. */
export async function deleteEntry(
  sql: Queryable,
  accountId: string,
  phoneNumber: string,
): Promise<boolean> {
  const rows = await sql`
    delete from do_not_call
    where account_id = ${accountId} and phone_number = ${phoneNumber}
    returning phone_number`;
  return rows.length > 0;
}
