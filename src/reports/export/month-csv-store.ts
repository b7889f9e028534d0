import type { Queryable } from '../../platform/postgres/sql.ts';

export type BilledWindow = {
  readonly agentIds: readonly number[];
  readonly since: Date;
  readonly until: Date;
};

export type Billed = {
  readonly agentId: number;
  readonly at: Date;
  readonly endpoint: string;
  readonly amountRaw: bigint;
};

/** Reads the oldest `limit` rows with an amount: charges, undecided payments and calls of voice platforms. */
export function findBilled(
  sql: Queryable,
  { agentIds, since, until }: BilledWindow,
  limit: number,
): Promise<Billed[]> {
  const agents = sql`unnest(${agentIds as number[]}::int[]) as a(id)`;
  return sql<Billed[]>`
    select l.agent_id as "agentId", l.at, l.endpoint, l.amount_raw as "amountRaw"
    from (
      select x.* from ${agents} cross join lateral (
        select c.agent_id, c.created_at as at, 0 as rank, c.id::text as id, c.target_url as endpoint,
          c.cost_raw as amount_raw
        from charges c
        where c.agent_id = a.id and c.cost_raw > 0 and c.created_at >= ${since} and c.created_at < ${until}
        order by c.created_at, c.id limit ${limit}) x
      union all
      select r.agent_id, r.reserved_at, 1, r.id::text, r.target_url, r.value_raw
      from ${agents} join reservations r on r.agent_id = a.id
      where r.state = 'pending_settlement' and r.value_raw > 0
        and r.reserved_at >= ${since} and r.reserved_at < ${until}
      union all
      select p.agent_id, p.counted_at, 2, p.provider || ':' || p.call_id, p.host || '/' || p.call_id,
        p.cost_raw
      from ${agents} join platform_calls p on p.agent_id = a.id
      where p.cost_raw > 0 and p.counted_at >= ${since} and p.counted_at < ${until}) l
    order by l.at, l.rank, length(l.id), l.id limit ${limit}`;
}
