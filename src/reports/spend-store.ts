import type { Queryable } from '../platform/postgres/sql.ts';
import { bucketOf, chargeFacts } from './charge-facts-store.ts';
import type { LatencyBucket } from './latency.ts';
import { RECONCILED_SOURCES, REQUEST_SOURCES } from './spend-source.ts';
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

/** State of an agent in a snapshot: its last charge, and the number of changes of its reconciled rows. */
export type AgentMark = {
  readonly agentId: number;
  readonly lastId: bigint;
  readonly changes: bigint;
};

/** The dearest groups of a snapshot, without pending payments, and the state of the agents in the same snapshot. */
export type TopSpend = {
  readonly rows: readonly GroupedRow[];
  readonly marks: readonly AgentMark[];
};

/** Groups that charges after a snapshot, or pending payments, have changed, with the sums of these alone. */
export type ChangedSpend = GroupedSpend & { readonly marks: readonly AgentMark[] };

type Dimension = 'source' | 'host' | 'customer' | 'task';

type FoundRow = GroupedRow & { readonly kind: 'group' | 'total' | 'agent' };

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
  const order = group === 'day' ? sql`g.name desc` : sql`sum(l.cost_raw) desc, g.name`;
  const found = await planned(
    sql,
    (tx) => tx<FoundRow[]>`
      with who as materialized (${cursors(tx, scope)})
      select case when grouping(g.name) = 1 then 'total' else 'group' end as kind,
        coalesce(g.name, '') as key, ${sums(tx)}
      from (${within(tx, scope, withPending(tx, dimension))}) l
        cross join lateral (select ${keyOf(tx, group)} as name) g
      group by grouping sets ((), (g.name))
      order by grouping(g.name) desc, ${order} limit ${limit + 1}`,
  );
  return groupedOf(found);
}

/** Returns the `limit` groups of the highest cost, without pending payments. */
export async function findTopSpend(
  sql: Queryable,
  dimension: Dimension,
  scope: SpendScope,
  limit: number,
): Promise<TopSpend> {
  const found = await planned(
    sql,
    (tx) => tx<FoundRow[]>`
      with who as materialized (${cursors(tx, scope)})
      ${marks(tx)}
      union all
      (select 'group', l.key, ${sums(tx)} from (${within(tx, scope, decided(tx, dimension))}) l
        group by 2 order by "costRaw" desc, key limit ${limit})`,
  );
  return { rows: groupedOf(found).rows, marks: marksOf(found) };
}

/** Returns at most `limit` groups that have changed since the marks, and the sums of all groups of the report. */
export async function findChangedSpend(
  sql: Queryable,
  dimension: Dimension,
  scope: SpendScope,
  since: readonly AgentMark[],
  limit: number,
): Promise<ChangedSpend> {
  const found = await planned(
    sql,
    (tx) => tx<FoundRow[]>`
      with who as materialized (${cursors(tx, scope)}),
      since as materialized (
        select * from unnest(${since.map(({ agentId }) => String(agentId))}::integer[],
          ${since.map(({ lastId }) => lastId.toString())}::bigint[]) as s(agent_id, charge_id))
      ${marks(tx)}
      union all
      select 'total', '', ${sums(tx)} from (${within(tx, scope, withPending(tx, 'source'))}) l
      union all
      (select 'group', l.key, ${sums(tx)}
        from (${within(tx, scope, tx`${after(tx, tx`since`, dimension)} union all ${pending(tx, dimension)}`)}) l
        group by 2 limit ${limit})`,
  );
  return { ...groupedOf(found), marks: marksOf(found) };
}

/** Returns the histogram of the latency of requests that have one. */
export function findLatency(
  sql: Queryable,
  scope: Omit<SpendScope, 'sources'>,
): Promise<LatencyBucket[]> {
  const requests = [...REQUEST_SOURCES];
  return planned(
    sql,
    (tx) => tx<LatencyBucket[]>`
      with who as materialized (${cursors(tx, scope)})
      select l.bucket, sum(l.calls)::float8 as calls
      from (${within(
        tx,
        { ...scope, sources: null },
        tx`
          select t.day, t.source, t.bucket, t.calls
          from who w join report_latency t on t.agent_id = w.agent_id
          where t.source = any(${[...requests, 'request']}::text[])
          union all
          select c.day, c.source, ${bucketOf(tx)}, 1 from (${behind(tx, tx`who`)}) c
          where c.latency_ms is not null and c.source = any(${requests}::text[])`,
      )}) l
      group by 1`,
  );
}

/** Runs a read with a plan of its own, which is not compiled since that takes longer than the read, and with memory for its groups. */
function planned<T>(sql: Queryable, read: (tx: Queryable) => Promise<T>): Promise<T> {
  if (!('begin' in sql)) return read(sql);
  return sql.begin(async (tx) => {
    const settings = tx`
      select set_config('jit', 'off', true), set_config('work_mem', '32MB', true),
        set_config('plan_cache_mode', 'force_custom_plan', true)`.execute();
    const [found] = await Promise.all([read(tx), settings]);
    return found;
  }) as Promise<T>;
}

function groupedOf(found: readonly FoundRow[]): GroupedSpend {
  let total = NO_SPEND;
  const rows: GroupedRow[] = [];
  for (const { kind, key, ...sums } of found) {
    if (kind === 'total') total = sums;
    else if (kind === 'group') rows.push({ key, ...sums });
  }
  return { total, rows };
}

const marksOf = (found: readonly FoundRow[]): AgentMark[] =>
  found
    .filter(({ kind }) => kind === 'agent')
    .map(({ costRaw, key, pendingRaw }) => ({
      agentId: Number(key),
      lastId: costRaw,
      changes: pendingRaw,
    }));

/** Returns SQL for the agents' marks, in the columns of the sums. */
const marks = (sql: Queryable) => sql`
  select 'agent' as kind, w.agent_id::text as key, 0::float8 as calls, 0::float8 as failed,
    0::float8 as pending, coalesce(n.id, 0) as "costRaw",
    w.changes + (select count(*) from reconciled_changes q where q.agent_id = w.agent_id) as "pendingRaw",
    0::float8 as "reconciledCalls", 0::bigint as "reconciledRaw"
  from who w left join lateral (
    select c.id from charges c where c.agent_id = w.agent_id order by c.id desc limit 1) n on true`;

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
  const isReconciled = sql`l.source = any(${[...RECONCILED_SOURCES, 'reconciled']}::text[])`;
  return sql`
    coalesce(sum(l.calls), 0)::float8 as calls, coalesce(sum(l.failed), 0)::float8 as failed,
    coalesce(sum(l.pending), 0)::float8 as pending, coalesce(sum(l.cost_raw), 0)::bigint as "costRaw",
    coalesce(sum(l.pending_raw), 0)::bigint as "pendingRaw",
    coalesce(sum(l.calls) filter (where ${isReconciled}), 0)::float8 as "reconciledCalls",
    coalesce(sum(l.cost_raw) filter (where ${isReconciled}), 0)::bigint as "reconciledRaw"`;
}

type Fragment = ReturnType<typeof keyOf>;

const within = (sql: Queryable, { since, sources, until }: SpendScope, lines: Fragment) => sql`
  select l.* from (${lines}) l
  where l.day >= coalesce(${since}::date, '-infinity') and l.day <= coalesce(${until}::date, 'infinity')
    and (${sources as string[] | null}::text[] is null
      or l.source = any(${sources as string[] | null}::text[]))`;

const cursors = (sql: Queryable, { agentIds }: Pick<SpendScope, 'agentIds'>) => sql`
  select a.id as agent_id, coalesce(r.charge_id, 0) as charge_id, coalesce(r.changes, 0) as changes
  from unnest(${agentIds.map(String)}::integer[]) a(id)
    left join report_cursors r on r.agent_id = a.id`;

/** Returns SQL for the charges behind the cursors in a table. The order makes the primary key the way to them. */
const behind = (sql: Queryable, cursorTable: Fragment) => sql`
  select c.* from ${cursorTable} w cross join lateral (
    select ${chargeFacts(sql)} from charges n where n.agent_id = w.agent_id and n.id > w.charge_id
    order by n.id desc limit 9223372036854775807) c`;

/** Returns SQL for all that counts and is decided: the totals, and the charges and changes behind them. */
const decided = (sql: Queryable, dimension: Dimension) => sql`
  select t.agent_id, t.day, t.source, t.key, t.calls, t.failed, 0 as pending, t.cost_raw,
    0::bigint as pending_raw
  from who w join report_totals t on t.agent_id = w.agent_id and t.dimension = ${dimension}
  union all
  ${after(sql, sql`who`, dimension)}
  union all
  select c.agent_id, c.day, c.source, ${tagOf(sql, dimension)}, c.calls, 0, 0, c.cost_raw, 0
  from who w join reconciled_changes c on c.agent_id = w.agent_id`;

const withPending = (sql: Queryable, dimension: Dimension) => sql`
  ${decided(sql, dimension)} union all ${pending(sql, dimension)}`;

const after = (sql: Queryable, cursorTable: Fragment, dimension: Dimension) => sql`
  select c.agent_id, c.day, c.source, ${tagOf(sql, dimension)} as key, c.calls, c.failed,
    0 as pending, c.cost_raw, 0::bigint as pending_raw
  from (${behind(sql, cursorTable)}) c`;

const pending = (sql: Queryable, dimension: Dimension) => sql`
  select c.agent_id, c.day, 'proxy', ${tagOf(sql, dimension)}, 1, 0, 1, c.value_raw, c.value_raw
  from (select r.agent_id, (r.reserved_at at time zone 'UTC')::date as day, r.value_raw,
      r.target_host as host, coalesce(r.customer_id, '') as customer, coalesce(r.task_id, '') as task
    from who w join reservations r
      on r.agent_id = w.agent_id and r.state = 'pending_settlement') c`;

function tagOf(sql: Queryable, dimension: Dimension) {
  switch (dimension) {
    case 'source':
      return sql`''`;
    case 'host':
      return sql`c.host`;
    case 'customer':
      return sql`c.customer`;
    case 'task':
      return sql`c.task`;
  }
}
