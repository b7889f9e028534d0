import type { Queryable } from '../platform/postgres/sql.ts';
import { bucketOf, chargeFacts } from './charge-facts-store.ts';
import type { LatencyBucket } from './latency.ts';
import { RECONCILED_SOURCES } from './spend-source.ts';
import { NO_SPEND, type SpendSums } from './spend-sums.ts';

/** Field by which spend is grouped. `host` is the vendor's host, the maker of a model, or `phone`. */
export type SpendGroup = 'source' | 'host' | 'customer' | 'task' | 'agent' | 'day';

/** Agents, UTC days (both included) and sources of a report. Null: no bound. */
export type SpendScope = {
  readonly agentIds: readonly number[];
  readonly since: string | null;
  readonly until: string | null;
  readonly sources: readonly string[] | null;
};

export type GroupedRow = SpendSums & { readonly key: string };

/** The groups of a report, and the sums of all its groups. */
export type GroupedSpend = { readonly rows: readonly GroupedRow[]; readonly total: SpendSums };

/**
 * Returns the `limit` groups of the highest cost, or the latest `limit` days, and the sums of all groups. All is read by one
 * statement, so that a charge which is rolled up meanwhile counts once.
 */
export async function findSpendBy(
  sql: Queryable,
  group: SpendGroup,
  scope: SpendScope,
  limit: number,
): Promise<GroupedSpend> {
  const dimension = group === 'agent' || group === 'day' ? 'source' : group;
  const order = group === 'day' ? sql`key desc` : sql`"costRaw" desc, key`;
  const found = await sql<(GroupedRow & { readonly isTotal: boolean })[]>`
    with who as materialized (${cursors(sql, scope)})
    select true as "isTotal", '' as key, ${sums(sql)} from (${lines(sql, scope, 'source')}) l
    union all
    (select false, ${keyOf(sql, group)} as key, ${sums(sql)}
      from (${lines(sql, scope, dimension)}) l group by 2 order by ${order} limit ${limit})`;
  let total = NO_SPEND;
  const rows: GroupedRow[] = [];
  for (const { isTotal, key, ...sums } of found) {
    if (isTotal) total = sums;
    else rows.push({ key, ...sums });
  }
  return { total, rows };
}

/** Returns the histogram of the latency of all charges that have a latency. */
export function findLatency(sql: Queryable, scope: SpendScope): Promise<LatencyBucket[]> {
  return sql<LatencyBucket[]>`
    with who as materialized (${cursors(sql, scope)})
    select l.bucket, sum(l.calls)::float8 as calls from (
      select t.day, t.source, t.bucket, t.calls
      from who w join report_latency t on t.agent_id = w.agent_id
      union all
      select c.day, c.source, ${bucketOf(sql)}, 1 from (${behind(sql)}) c
      where c.latency_ms is not null) l
    where ${within(sql, scope)}
    group by 1`;
}

function keyOf(sql: Queryable, group: SpendGroup) {
  switch (group) {
    case 'source':
      return sql`l.source`;
    case 'agent':
      return sql`l.agent_id::text`;
    case 'day':
      return sql`l.day::text`;
    default:
      return sql`l.key`;
  }
}

function sums(sql: Queryable) {
  const isReconciled = sql`l.source = any(${[...RECONCILED_SOURCES]}::text[])`;
  return sql`
    coalesce(sum(l.calls), 0)::float8 as calls, coalesce(sum(l.failed), 0)::float8 as failed,
    coalesce(sum(l.pending), 0)::float8 as pending, coalesce(sum(l.cost_raw), 0)::bigint as "costRaw",
    coalesce(sum(l.pending_raw), 0)::bigint as "pendingRaw",
    coalesce(sum(l.calls) filter (where ${isReconciled}), 0)::float8 as "reconciledCalls",
    coalesce(sum(l.cost_raw) filter (where ${isReconciled}), 0)::bigint as "reconciledRaw"`;
}

const within = (sql: Queryable, { since, until, sources }: SpendScope) => sql`
  l.day >= coalesce(${since}::date, '-infinity') and l.day <= coalesce(${until}::date, 'infinity')
    and (${sources as string[] | null}::text[] is null
      or l.source = any(${sources as string[] | null}::text[]))`;

const cursors = (sql: Queryable, { agentIds }: SpendScope) => sql`
  select a.id as agent_id, coalesce(r.charge_id, 0) as charge_id
  from unnest(${agentIds.map(String)}::integer[]) a(id)
    left join report_cursors r on r.agent_id = a.id`;

/** Returns SQL for the charges behind the cursors. The order makes the primary key the way to them. */
const behind = (sql: Queryable) => sql`
  select c.* from who w cross join lateral (
    select ${chargeFacts(sql)} from charges n where n.agent_id = w.agent_id and n.id > w.charge_id
    order by n.id desc limit 9223372036854775807) c`;

type Dimension = 'source' | 'host' | 'customer' | 'task';

/** Returns SQL for all that counts: the totals, the charges and changes behind them, and the pending payments. */
function lines(sql: Queryable, scope: SpendScope, dimension: Dimension) {
  const key = {
    source: sql`''`,
    host: sql`c.host`,
    customer: sql`c.customer`,
    task: sql`c.task`,
  }[dimension];
  return sql`
    select l.* from (
      select t.agent_id, t.day, t.source, t.key, t.calls, t.failed, 0 as pending, t.cost_raw,
        0::bigint as pending_raw
      from who w join report_totals t on t.agent_id = w.agent_id and t.dimension = ${dimension}
      union all
      select c.agent_id, c.day, c.source, ${key}, c.calls, c.failed, 0, c.cost_raw, 0
      from (${behind(sql)}) c
      union all
      select c.agent_id, c.day, c.source, ${key}, c.calls, 0, 0, c.cost_raw, 0
      from who w join reconciled_changes c on c.agent_id = w.agent_id
      union all
      select c.agent_id, c.day, 'proxy', ${key}, 1, 0, 1, c.value_raw, c.value_raw
      from (select r.agent_id, (r.reserved_at at time zone 'UTC')::date as day, r.value_raw,
          r.target_host as host, coalesce(r.customer_id, '') as customer,
          coalesce(r.task_id, '') as task
        from who w join reservations r
          on r.agent_id = w.agent_id and r.state = 'pending_settlement') c) l
    where ${within(sql, scope)}`;
}
