import type { Queryable } from '../platform/postgres/sql.ts';
import { bucketOf, chargeFacts } from './charge-facts-store.ts';
import { RECONCILED_SOURCES, REQUEST_SOURCES } from './spend-source.ts';

/** Agents of one scan that have rows behind their cursors, and the last agent that was scanned. */
export type RollUpWork = {
  readonly agentIds: readonly number[];
  /** Null when no further agent exists. */
  readonly lastId: number | null;
};

/** Scans the next agents after `afterId` for charges and changes that are not part of the totals. Adds missing cursors. */
export async function findRollUpWork(
  sql: Queryable,
  afterId: number,
  limit: number,
): Promise<RollUpWork> {
  const rows = await sql<{ agent_id: number; has_news: boolean }[]>`
    with looked as materialized (
      select f.agent_id, r.agent_id is null as is_new,
        charge.id is not null or change.id is not null as has_news
      from (select agent_id from agent_funds where agent_id > ${afterId}
          order by agent_id limit ${limit}) f
        left join report_cursors r on r.agent_id = f.agent_id
        -- The order makes the primary key the way to the rows.
        left join lateral (
          select n.id from charges n where n.agent_id = f.agent_id and n.id > coalesce(r.charge_id, 0)
          order by n.id desc limit 1) charge on true
        left join lateral (
          select q.id from reconciled_changes q where q.agent_id = f.agent_id
          order by q.id limit 1) change on true),
    added as (
      insert into report_cursors (agent_id, charge_id)
      select agent_id, 0 from looked where is_new and has_news order by agent_id
      on conflict do nothing)
    select agent_id, has_news from looked order by agent_id`;
  return {
    agentIds: rows.filter((row) => row.has_news).map((row) => row.agent_id),
    lastId: rows.length < limit ? null : (rows.at(-1)?.agent_id ?? null),
  };
}

/**
 * Adds the next `rowsPerAgent` rows of each kind behind some agents' cursors to the totals, and returns their number. One
 * statement does all of this, so that every row is counted once, wherever a process is killed. An agent that another process
 * rolls up at the same time is left out.
 */
export async function rollUp(
  sql: Queryable,
  agentIds: readonly number[],
  rowsPerAgent: number,
): Promise<number> {
  const reconciled = [...RECONCILED_SOURCES];
  const requests = [...REQUEST_SOURCES];
  const [row] = await sql<{ rows: number }[]>`
    with cursors as materialized (
      select r.agent_id, r.charge_id from report_cursors r
      where r.agent_id = any(${agentIds.map(String)}::integer[])
      order by r.agent_id for update skip locked),
    charge as materialized (
      select c.* from cursors r cross join lateral (
        select ${chargeFacts(sql)} from charges n
        where n.agent_id = r.agent_id and n.id > r.charge_id
        order by n.id limit ${rowsPerAgent}) c),
    change as (
      delete from reconciled_changes q using (
        select w.agent_id, w.id from cursors r cross join lateral (
          select agent_id, id from reconciled_changes w where w.agent_id = r.agent_id
          order by w.id limit ${rowsPerAgent}) w) w
      where q.agent_id = w.agent_id and q.id = w.id
      returning q.*),
    line as materialized (
      select agent_id, day, source, host, customer, task, calls, failed, cost_raw from charge
      union all
      select agent_id, day, source, host, customer, task, calls, 0, cost_raw from change),
    totals as (
      insert into report_totals as t
        (agent_id, dimension, day, source, key, calls, failed, cost_raw)
      select l.agent_id, d.dimension, l.day, d.source, d.key, sum(l.calls), sum(l.failed),
        sum(l.cost_raw)
      from line l
        cross join lateral (select
          case when l.source = any(${reconciled}::text[]) then 'reconciled' else '' end as class) k
        cross join lateral (values ('source', l.source, ''), ('host', l.source, l.host),
          ('customer', k.class, l.customer), ('task', k.class, l.task)) as d(dimension, source, key)
      group by 1, 2, 3, 4, 5
      on conflict (agent_id, dimension, day, source, key) do update
      set calls = t.calls + excluded.calls, failed = t.failed + excluded.failed,
        cost_raw = t.cost_raw + excluded.cost_raw),
    latency as (
      insert into report_latency as t (agent_id, day, source, bucket, calls)
      select c.agent_id, c.day, 'request', ${bucketOf(sql)}, count(*)
      from charge c where c.latency_ms is not null and c.source = any(${requests}::text[])
      group by 1, 2, 3, 4
      on conflict (agent_id, day, source, bucket) do update set calls = t.calls + excluded.calls),
    moved as (
      update report_cursors r
      set charge_id = coalesce(m.id, r.charge_id), changes = r.changes + coalesce(q.changes, 0)
      from cursors k
        left join (select agent_id, max(id) as id from charge group by 1) m
          on m.agent_id = k.agent_id
        left join (select agent_id, count(*) as changes from change group by 1) q
          on q.agent_id = k.agent_id
      where r.agent_id = k.agent_id and (m.id is not null or q.changes is not null))
    select count(*)::integer as rows from line`;
  return row?.rows ?? 0;
}
