import { isoTime } from '../../kernel/clock.ts';
import { storableText } from '../../kernel/storable.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { REPORT_LIMITS } from '../limits.ts';
import type { Refusal, RefusalReason, RefusalReport, RefusalRow } from './refusal.ts';

/** Refusal that is kept as a row if its agent's UTC day has fewer rows than `rowsPerDay` before it. */
export type NewRefusal = Refusal & {
  readonly day: string;
  readonly atMs: number;
  /** Position among the refusals of the same agent, day and batch, from 1. */
  readonly number: number;
};

type DayCount = { readonly agentId: number; readonly day: string; readonly calls: number };

/** Refusals that one process has counted since its last write. */
export type RefusalBatch = {
  readonly days: readonly DayCount[];
  readonly totals: readonly (DayCount & { readonly reason: RefusalReason })[];
  readonly rows: readonly NewRefusal[];
};

/** Adds a batch in one statement. Returns the agents' days that have `rowsPerDay` refusals or more. */
export async function saveRefusals(
  sql: Queryable,
  { days, rows, totals }: RefusalBatch,
): Promise<{ readonly agentId: number; readonly day: string }[]> {
  const { rowsPerDay } = REPORT_LIMITS.refusals;
  // Rows are written in the order of their keys, so that two processes which refuse the same agents never deadlock.
  return sql<{ agentId: number; day: string }[]>`
    with counted as (
      insert into refusal_days as d (agent_id, day, calls)
      select x."agentId", x.day, x.calls
      from json_to_recordset(${JSON.stringify(days)}::text::json)
        as x("agentId" integer, day date, calls integer)
      order by 1, 2
      on conflict (agent_id, day) do update set calls = d.calls + excluded.calls
      returning agent_id, day, calls),
    before as materialized (
      select c.agent_id, c.day, c.calls, c.calls - x.calls as earlier
      from counted c join json_to_recordset(${JSON.stringify(days)}::text::json)
        as x("agentId" integer, day date, calls integer) on x."agentId" = c.agent_id and x.day = c.day),
    added as (
      insert into refusal_totals as t (agent_id, day, reason, calls)
      select x."agentId", x.day, x.reason, x.calls
      from json_to_recordset(${JSON.stringify(totals)}::text::json)
        as x("agentId" integer, day date, reason text, calls integer)
      order by 1, 2, 3
      on conflict (agent_id, day, reason) do update set calls = t.calls + excluded.calls),
    kept as (
      insert into refusals
        (agent_id, at, request_id, reason, policy_id, host, required_raw, available_raw)
      select x.agent, x.at, x.request, x.reason, x.policy, x.host, x.required, x.available
      from json_to_recordset(${JSON.stringify(rows.map(lineOf))}::text::json)
          as x(agent integer, day date, number integer, at timestamptz, request text, reason text,
            policy integer, host text, required bigint, available bigint)
        join before b on b.agent_id = x.agent and b.day = x.day
      where b.earlier + x.number <= ${rowsPerDay}
      order by x.at)
    select agent_id as "agentId", day::text as day from before where calls >= ${rowsPerDay}`;
}

const lineOf = (row: NewRefusal) => ({
  agent: row.agentId,
  day: row.day,
  number: row.number,
  at: isoTime(row.atMs),
  request: storableText(row.requestId),
  reason: row.reason,
  policy: row.policyId,
  host: row.host && storableText(row.host.slice(0, REPORT_LIMITS.refusals.hostChars)),
  required: row.requiredRaw?.toString() ?? null,
  available: row.availableRaw?.toString() ?? null,
});

type Window = {
  readonly agentIds: readonly number[];
  readonly since: string | null;
  readonly until: string | null;
};

/** Returns the counts of refusals by reason and by day. */
export async function countRefusals(
  sql: Queryable,
  { agentIds, since, until }: Window,
): Promise<RefusalReport> {
  const rows = await sql<{ reason: RefusalReason | null; day: string | null; count: number }[]>`
    select t.reason, t.day::text as day, sum(t.calls)::float8 as count
    from refusal_totals t
    where t.agent_id = any(${agentIds.map(String)}::integer[])
      and t.day >= coalesce(${since}::date, '-infinity')
      and t.day <= coalesce(${until}::date, 'infinity')
    group by grouping sets ((t.reason), (t.day))
    order by t.day, count desc, t.reason`;
  const byReason = rows.flatMap(({ count, reason }) =>
    reason === null ? [] : [{ reason, count }],
  );
  const byDay = rows.flatMap(({ count, day }) => (day === null ? [] : [{ day, count }]));
  return { byReason, byDay, total: byReason.reduce((sum, { count }) => sum + count, 0) };
}

/** Returns rows of some agents, newest first. Reads at most `limit` rows of each agent. */
export function findRefusals(
  sql: Queryable,
  agentIds: readonly number[],
  before: bigint | null,
  limit: number,
): Promise<RefusalRow[]> {
  return sql<RefusalRow[]>`
    select r.id, r.agent_id as "agentId", r.at, r.request_id as "requestId", r.reason,
      r.policy_id as "policyId", r.host, r.required_raw as "requiredRaw",
      r.available_raw as "availableRaw"
    from unnest(${agentIds.map(String)}::integer[]) a(id)
      cross join lateral (
        select * from refusals n
        where n.agent_id = a.id and n.id < coalesce(${before === null ? null : before.toString()}::bigint, 9223372036854775807)
        order by n.id desc limit ${limit}) r
    order by r.id desc limit ${limit}`;
}

/** Deletes, of the oldest `limit` rows, those older than `days`. Returns the number of deleted rows. */
export async function pruneRefusals(sql: Queryable, days: number, limit: number): Promise<number> {
  const rows = await sql`
    delete from refusals r using (
      select o.agent_id, o.id from (
        select agent_id, id, at from refusals order by at limit ${limit}) o
      where o.at < now() - ${days} * interval '1 day') o
    where r.agent_id = o.agent_id and r.id = o.id
    returning 1 as one`;
  return rows.length;
}

/** Deletes at most `limit` day counts older than `days`, which decide no row any more. */
export async function pruneRefusalDays(
  sql: Queryable,
  days: number,
  limit: number,
): Promise<number> {
  const rows = await sql`
    delete from refusal_days r using (
      select agent_id, day from refusal_days
      where day < (now() - ${days} * interval '1 day')::date order by day limit ${limit}) o
    where r.agent_id = o.agent_id and r.day = o.day
    returning 1 as one`;
  return rows.length;
}
