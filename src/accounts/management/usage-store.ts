import type { Queryable } from '../../platform/postgres/sql.ts';

export type Usage = { readonly totalRequests: number; readonly totalSpentRaw: bigint };

/** Returns the requests and spending of an account's agents. Money that a close withdrew does not count as spent. */
export async function findUsage(sql: Queryable, accountId: string): Promise<Usage> {
  const [row] = await sql<{ requests: number; consumed: string; withdrawn: string }[]>`
    with own as (select id, status from agents where account_id = ${accountId})
    select
      (select coalesce(sum(calls), 0)::float8 from spend_totals
        where agent_id in (select id from own)) as requests,
      (select coalesce(sum(consumed_raw), 0)::text from agent_funds
        where agent_id in (select id from own)) as consumed,
      (select coalesce(sum((
          -- One agent's withdrawals by their ids, ';' being next to ':'. Its other postings are not read.
          select sum(p.amounts[1]) from postings p
          where p.id >= 'withdraw:' || own.id || ':' and p.id < 'withdraw:' || own.id || ';')), 0)::text
        from own where own.status = 'closed') as withdrawn
  `;
  return {
    totalRequests: row?.requests ?? 0,
    totalSpentRaw: BigInt(row?.consumed ?? 0) - BigInt(row?.withdrawn ?? 0),
  };
}
