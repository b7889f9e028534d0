import type { Sql } from '../store/sql.ts';

/** One call that cost nothing. */
export type PassthroughLine = {
  readonly agentId: number;
  readonly keyId: number | null;
  readonly targetUrl: string;
  readonly method: string;
  readonly responseStatusCode: number;
  readonly latencyMs: number;
  readonly taskId: string | null;
  readonly actionId: string | null;
};

export async function insertPassthroughs(
  sql: Sql,
  lines: readonly PassthroughLine[],
): Promise<void> {
  await sql`
    insert into proxy_passthroughs (agent_id, key_id, target_url, method, response_status_code, latency_ms,
      task_id, action_id)
    select x.agent, x.key, x.url, x.method, x.code, x.latency, x.task, x.action
    from json_to_recordset(${JSON.stringify(
      lines.map((line) => ({
        agent: line.agentId,
        key: line.keyId,
        url: line.targetUrl,
        method: line.method,
        code: line.responseStatusCode,
        latency: line.latencyMs,
        task: line.taskId,
        action: line.actionId,
      })),
    )}::text::json) as x(agent integer, key integer, url text, method text, code integer, latency integer,
      task text, action text)`;
}

/** Removes, of the oldest `limit` lines, those older than so many days; answers how many went. */
export async function prunePassthroughs(sql: Sql, days: number, limit: number): Promise<number> {
  const rows = await sql`
    delete from proxy_passthroughs where id in (
      select o.id from (select id, created_at from proxy_passthroughs order by id limit ${limit}) o
      where o.created_at < now() - ${days} * interval '1 day')
    returning 1 as one`;
  return rows.length;
}
