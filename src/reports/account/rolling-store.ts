import type { Queryable } from '../../platform/postgres/sql.ts';

/** Agents and instants of a window: `since` is part of it, `until` is not. */
export type RollingWindow = {
  readonly agentIds: readonly number[];
  readonly since: Date;
  readonly until: Date;
};

export type RollingSums = {
  readonly calls: number;
  readonly failed: number;
  readonly pending: number;
  readonly costRaw: bigint;
};

export type RollingLatency = {
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
};

const NOTHING: RollingSums = { calls: 0, failed: 0, pending: 0, costRaw: 0n };
const UNKNOWN: RollingLatency = { p50Ms: null, p95Ms: null, p99Ms: null };

/** Returns charges, pending payments and calls of voice platforms, all that counts under policies in the window. */
const counted = (sql: Queryable, { agentIds, since, until }: RollingWindow) => sql`
  select c.target_host as host, c.created_at as at, (c.status = 'failed')::int as failed,
    0 as pending, c.cost_raw
  from unnest(${agentIds as number[]}::int[]) as a(id) join charges c on c.agent_id = a.id
  where c.created_at >= ${since} and c.created_at < ${until}
  union all
  select r.target_host, r.reserved_at, 0, 1, r.value_raw
  from unnest(${agentIds as number[]}::int[]) as a(id) join reservations r on r.agent_id = a.id
  where r.state = 'pending_settlement' and r.reserved_at >= ${since} and r.reserved_at < ${until}
  union all
  select p.host, p.counted_at, 0, 0, p.cost_raw
  from unnest(${agentIds as number[]}::int[]) as a(id) join platform_calls p on p.agent_id = a.id
  where p.counted_at >= ${since} and p.counted_at < ${until}`;

const sums = (sql: Queryable) => sql`count(*)::float8 as calls,
  coalesce(sum(l.failed), 0)::float8 as failed, coalesce(sum(l.pending), 0)::float8 as pending,
  coalesce(sum(l.cost_raw), 0)::bigint as "costRaw"`;

export async function findRollingSums(sql: Queryable, window: RollingWindow): Promise<RollingSums> {
  const [row] = await sql<RollingSums[]>`
    select ${sums(sql)} from (${counted(sql, window)}) l`;
  return row ?? NOTHING;
}

/** Hours of a window, and hosts of the highest cost, that one report has. */
const MOST_GROUPS = 48;

/** Returns the sums by vendor's host in descending order of cost, or by hour (UTC) in ascending order. */
export async function findRollingGroups(
  sql: Queryable,
  window: RollingWindow,
  groupBy: 'host' | 'hour',
): Promise<readonly (RollingSums & { readonly key: string })[]> {
  const key =
    groupBy === 'host'
      ? sql`l.host`
      : sql`to_char(date_trunc('hour', l.at at time zone 'UTC'), 'YYYY-MM-DD"T"HH24:00:00.000"Z"')`;
  return sql<(RollingSums & { key: string })[]>`
    select ${key} as key, ${sums(sql)} from (${counted(sql, window)}) l group by 1
    order by ${groupBy === 'host' ? sql`"costRaw" desc, 1` : sql`1`} limit ${MOST_GROUPS}`;
}

/** Returns exact percentiles of the latency of single requests, by the nearest rank. */
export async function findRollingLatency(
  sql: Queryable,
  { agentIds, since, until }: RollingWindow,
): Promise<RollingLatency> {
  const [row] = await sql<{ ms: number[] | null }[]>`
    select percentile_disc(array[0.5, 0.95, 0.99]) within group (order by c.latency_ms) as ms
    from unnest(${agentIds as number[]}::int[]) as a(id) join charges c on c.agent_id = a.id
    where c.created_at >= ${since} and c.created_at < ${until} and c.latency_ms is not null
      and c.session_id is null and c.target_url not like 'phone://%'`;
  const [p50Ms = null, p95Ms = null, p99Ms = null] = row?.ms ?? [];
  return row?.ms ? { p50Ms, p95Ms, p99Ms } : UNKNOWN;
}
