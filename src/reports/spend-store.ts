import type { Queryable } from '../platform/postgres/sql.ts';
import { LATENCY_GROWTH, type LatencyBucket } from './latency.ts';
import { RECONCILED_SOURCES } from './spend-source.ts';
import type { SpendSums } from './spend-sums.ts';

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

/** Returns the sums of all groups. */
export function findSpendBy(
  sql: Queryable,
  group: SpendGroup,
  scope: SpendScope,
): Promise<GroupedRow[]> {
  const reconciled = [...RECONCILED_SOURCES];
  return sql<GroupedRow[]>`
    select ${keyOf(sql, group)} as key, sum(l.calls)::float8 as calls, sum(l.failed)::float8 as failed,
      sum(l.pending)::float8 as pending, sum(l.cost_raw)::bigint as "costRaw",
      sum(l.pending_raw)::bigint as "pendingRaw",
      coalesce(sum(l.calls) filter (where l.source = any(${reconciled}::text[])), 0)::float8
        as "reconciledCalls",
      coalesce(sum(l.cost_raw) filter (where l.source = any(${reconciled}::text[])), 0)::bigint
        as "reconciledRaw"
    from (${lines(sql, scope)}) l where ${within(sql, scope)}
    group by 1`;
}

/** Returns the histogram of the latency of all charges that have a latency. */
export function findLatency(sql: Queryable, scope: SpendScope): Promise<LatencyBucket[]> {
  return sql<LatencyBucket[]>`
    select ${bucketOf(sql)} as bucket, count(*)::float8 as calls
    from (${charges(sql, scope)}) l
    where l.latency_ms is not null and ${within(sql, scope)}
    group by 1`;
}

function keyOf(sql: Queryable, group: SpendGroup) {
  switch (group) {
    case 'source':
      return sql`l.source`;
    case 'host':
      return sql`l.host`;
    case 'customer':
      return sql`l.customer`;
    case 'task':
      return sql`l.task`;
    case 'agent':
      return sql`l.agent_id::text`;
    case 'day':
      return sql`l.day::text`;
  }
}

const bucketOf = (sql: Queryable) => sql`
  case when l.latency_ms < 1 then 0
    else 1 + floor(ln(l.latency_ms::float8) / ln(${LATENCY_GROWTH}::float8))::integer end`;

const within = (sql: Queryable, { since, until, sources }: SpendScope) => sql`
  l.day >= coalesce(${since}::date, '-infinity') and l.day <= coalesce(${until}::date, 'infinity')
    and (${sources as string[] | null}::text[] is null
      or l.source = any(${sources as string[] | null}::text[]))`;

const idsOf = ({ agentIds }: SpendScope) => agentIds.map(String);

const charges = (sql: Queryable, scope: SpendScope) => sql`
  select c.agent_id, (c.created_at at time zone 'UTC')::date as day,
    case when c.rail = 'byok' then 'byok' when c.target_url like 'phone://%' then 'phone'
      when c.session_id is not null then 'streaming' when c.target_url like 'gateway://%' then 'gateway'
      else 'proxy' end as source,
    c.target_host as host, coalesce(c.customer_id, '') as customer, coalesce(c.task_id, '') as task,
    1 as calls, (c.status = 'failed')::integer as failed, 0 as pending, c.cost_raw,
    0::bigint as pending_raw, c.latency_ms
  from charges c where c.agent_id = any(${idsOf(scope)}::integer[])`;

const lines = (sql: Queryable, scope: SpendScope) => sql`
  ${charges(sql, scope)}
  union all
  select e.agent_id, (e.at at time zone 'UTC')::date, 'guard', '', '', '', 1, 0, 0, e.cost_raw, 0, null
  from reconciled_events e where e.agent_id = any(${idsOf(scope)}::integer[])
  union all
  select r.agent_id, (r.reserved_at at time zone 'UTC')::date, 'proxy', r.target_host,
    coalesce(r.customer_id, ''), coalesce(r.task_id, ''), 1, 0, 1, r.value_raw, r.value_raw, null
  from reservations r
  where r.agent_id = any(${idsOf(scope)}::integer[]) and r.state = 'pending_settlement'`;
