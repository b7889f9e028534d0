import type { Queryable, Sql } from '../../platform/postgres/sql.ts';

/** Returns the call limit that was set for an account, or null when none was set. Undefined when there is no such account. */
export async function findCallLimit(
  sql: Sql,
  accountId: string,
): Promise<number | null | undefined> {
  const [row] = await sql<{ calls: number | null }[]>`
    select l.calls from developers d left join call_limits l on l.account_id = d.account_id
    where d.account_id = ${accountId}`;
  return row?.calls;
}

/** Sets the limit of an account, or removes it where `calls` is null. */
export async function saveCallLimit(
  sql: Queryable,
  accountId: string,
  calls: number | null,
): Promise<void> {
  if (calls === null) {
    await sql`delete from call_limits where account_id = ${accountId}`;
    return;
  }
  await sql`insert into call_limits (account_id, calls)
    select account_id, ${calls} from developers where account_id = ${accountId}
    on conflict (account_id) do update set calls = excluded.calls, updated_at = now()`;
}
