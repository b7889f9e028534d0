import type { Queryable, Sql } from '../../platform/postgres/sql.ts';

/** A row of the agent's history for one call without a payment on the chain. */
export type PassthroughLine = {
  readonly agentId: number;
  readonly keyId: number | null;
  readonly targetUrl: string;
  readonly method: string;
  readonly responseStatusCode: number;
  readonly latencyMs: number;
  readonly taskId: string | null;
  readonly actionId: string | null;
  /** Amount of the call's own charge, which counts under its action. Absent when the call has no charge. */
  readonly chargedRaw?: bigint;
};

/** Writes lines in one statement, and counts lines without a charge under their actions. */
export async function insertPassthroughs(
  sql: Queryable,
  lines: readonly PassthroughLine[],
): Promise<void> {
  // Rows are written in the order of their keys, so that two processes which count the same actions never deadlock.
  await sql`
    with line as (
      select x.* from json_to_recordset(${JSON.stringify(lines.map(lineOf))}::text::json)
        as x(agent integer, key integer, url text, method text, code integer, latency integer,
          task text, action text, charged bigint)),
    written as (
      insert into proxy_passthroughs (agent_id, key_id, target_url, method, response_status_code,
        latency_ms, task_id, action_id, cost_raw)
      select agent, key, url, method, code, latency, task, action, coalesce(charged, 0) from line)
    insert into free_action_totals as f (agent_id, action_id, calls, first_seen, last_seen)
    select agent, action, count(*), now(), now() from line
    where action is not null and charged is null group by agent, action order by agent, action
    on conflict (agent_id, action_id) do update
    set calls = f.calls + excluded.calls, last_seen = greatest(f.last_seen, excluded.last_seen)`;
}

const lineOf = (line: PassthroughLine) => ({
  agent: line.agentId,
  key: line.keyId,
  url: line.targetUrl,
  method: line.method,
  code: line.responseStatusCode,
  latency: line.latencyMs,
  task: line.taskId,
  action: line.actionId,
  charged: line.chargedRaw?.toString() ?? null,
});

/** Deletes, of the oldest `limit` lines, those older than `days`. Returns the number of deleted lines. */
export async function prunePassthroughs(sql: Sql, days: number, limit: number): Promise<number> {
  const rows = await sql`
    delete from proxy_passthroughs where id in (
      select o.id from (select id, created_at from proxy_passthroughs order by id limit ${limit}) o
      where o.created_at < now() - ${days} * interval '1 day')
    returning 1 as one`;
  return rows.length;
}
