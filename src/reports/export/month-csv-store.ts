import type { Queryable } from '../../platform/postgres/sql.ts';

export type BilledWindow = {
  readonly agentIds: readonly number[];
  readonly since: Date;
  readonly until: Date;
};

/** Place of a row in the order of time: charges have the rank 0, pending payments the rank 1. */
export type BilledPlace = {
  readonly atMicros: bigint;
  readonly rank: number;
  readonly id: bigint;
};

export type Billed = BilledPlace & {
  readonly agentId: number;
  readonly at: Date;
  readonly endpoint: string;
  readonly amountRaw: bigint;
};

/** Counts the rows with an amount, up to `most`. */
export async function countBilled(
  sql: Queryable,
  window: BilledWindow,
  most: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      ${billed(sql, window, { after: undefined, limit: most })} limit ${most}) l`;
  return row?.count ?? 0;
}

/** Reads the rows with an amount after a place: charges, and payments that the chain has not decided. */
export function findBilled(
  sql: Queryable,
  window: BilledWindow,
  page: { readonly after: BilledPlace | undefined; readonly limit: number },
): Promise<Billed[]> {
  return sql<Billed[]>`
    select l.agent_id as "agentId", l.at, l.rank, l.id, l.endpoint, l.amount_raw as "amountRaw",
      (extract(epoch from l.at) * 1000000)::bigint as "atMicros"
    from (${billed(sql, window, page)}) l
    order by l.at, l.rank, l.id limit ${page.limit}`;
}

const billed = (
  sql: Queryable,
  window: BilledWindow,
  page: { readonly after: BilledPlace | undefined; readonly limit: number },
) => sql`
  select x.* from unnest(${window.agentIds as number[]}::int[]) as a(id)
  cross join lateral (
    select c.agent_id, c.created_at as at, 0 as rank, c.id, c.target_url as endpoint,
      c.cost_raw as amount_raw
    from charges c
    where c.agent_id = a.id and c.cost_raw > 0 and c.created_at >= ${window.since}
      and c.created_at < ${window.until} ${afterPlace(sql, page.after, 'c.created_at', 'c.id', 0)}
    order by c.created_at, c.id limit ${page.limit}) x
  union all
  select x.* from unnest(${window.agentIds as number[]}::int[]) as a(id)
  cross join lateral (
    select r.agent_id, r.reserved_at, 1, r.id, r.target_url, r.value_raw
    from reservations r
    where r.agent_id = a.id and r.state = 'pending_settlement' and r.value_raw > 0 and r.reserved_at >= ${window.since}
      and r.reserved_at < ${window.until} ${afterPlace(sql, page.after, 'r.reserved_at', 'r.id', 1)}
    order by r.reserved_at, r.id limit ${page.limit}) x`;

function afterPlace(
  sql: Queryable,
  place: BilledPlace | undefined,
  at: string,
  id: string,
  rank: number,
) {
  if (place === undefined) return sql``;
  const time = sql`(timestamptz 'epoch' + ${String(place.atMicros)}::bigint * interval '1 microsecond')`;
  return sql`and ${sql(at)} >= ${time} and (${sql(at)}, ${rank}::int, ${sql(id)})
    > (${time}, ${place.rank}::int, ${String(place.id)}::bigint)`;
}
