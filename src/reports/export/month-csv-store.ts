import type { Queryable } from '../../platform/postgres/sql.ts';

export type BilledWindow = {
  readonly agentIds: readonly number[];
  readonly since: Date;
  readonly until: Date;
};

/** Place of a row in the order of time: charges have the rank 0, pending payments 1, calls of voice platforms 2. */
export type BilledPlace = {
  readonly atMicros: bigint;
  readonly rank: number;
  /** Text that sorts as the id does. */
  readonly id: string;
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

/** Reads the rows with an amount after a place: charges, undecided payments and calls of voice platforms. */
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
    select c.agent_id, c.created_at as at, 0 as rank, ${digits(sql, 'c.id')} as id, c.target_url as endpoint,
      c.cost_raw as amount_raw
    from charges c
    where c.agent_id = a.id and c.cost_raw > 0 and c.created_at >= ${window.since}
      and c.created_at < ${window.until} ${afterPlace(sql, page.after, 'c.created_at', digits(sql, 'c.id'), 0)}
    order by c.created_at, c.id limit ${page.limit}) x
  union all
  select x.* from unnest(${window.agentIds as number[]}::int[]) as a(id)
  cross join lateral (
    select r.agent_id, r.reserved_at, 1, ${digits(sql, 'r.id')}, r.target_url, r.value_raw
    from reservations r
    where r.agent_id = a.id and r.state = 'pending_settlement' and r.value_raw > 0 and r.reserved_at >= ${window.since}
      and r.reserved_at < ${window.until} ${afterPlace(sql, page.after, 'r.reserved_at', digits(sql, 'r.id'), 1)}
    order by r.reserved_at, r.id limit ${page.limit}) x
  union all
  select x.* from unnest(${window.agentIds as number[]}::int[]) as a(id)
  cross join lateral (
    select p.agent_id, p.counted_at, 2, ${callOf(sql)}, p.host || '/' || p.call_id, p.cost_raw
    from platform_calls p
    where p.agent_id = a.id and p.cost_raw > 0 and p.counted_at >= ${window.since}
      and p.counted_at < ${window.until} ${afterPlace(sql, page.after, 'p.counted_at', callOf(sql), 2)}
    order by p.counted_at, ${callOf(sql)} limit ${page.limit}) x`;

const digits = (sql: Queryable, column: string) =>
  sql`lpad(${sql(column)}::text, 19, '0') collate "C"`;

const callOf = (sql: Queryable) => sql`(p.provider || ':' || p.call_id) collate "C"`;

function afterPlace(
  sql: Queryable,
  place: BilledPlace | undefined,
  at: string,
  id: ReturnType<typeof callOf>,
  rank: number,
) {
  if (place === undefined) return sql``;
  const time = sql`(timestamptz 'epoch' + ${String(place.atMicros)}::bigint * interval '1 microsecond')`;
  return sql`and ${sql(at)} >= ${time} and (${sql(at)}, ${rank}::int, ${id})
    > (${time}, ${place.rank}::int, ${place.id}::text)`;
}
