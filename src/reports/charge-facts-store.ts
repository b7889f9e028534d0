import type { Queryable } from '../platform/postgres/sql.ts';
import { LATENCY_GROWTH } from './latency.ts';

/**
 * Returns SQL for the columns of a charge `n` that reports sum. The roll-up and the reports use the same columns, so that a charge
 * counts in one place whether it is rolled up or not. Sessions and phone calls have no latency here: theirs is their duration.
 */
export const chargeFacts = (sql: Queryable) => sql`
  n.agent_id, n.id, (n.created_at at time zone 'UTC')::date as day,
  (case when n.rail = 'byok' then 'byok' when n.target_url like 'phone://%' then 'phone'
    when n.session_id is not null then 'streaming' when n.target_url like 'gateway://%' then 'gateway'
    else 'proxy' end) collate "C" as source,
  n.target_host collate "C" as host, coalesce(n.customer_id, '') collate "C" as customer,
  coalesce(n.task_id, '') collate "C" as task, 1 as calls, (n.status = 'failed')::integer as failed,
  n.cost_raw,
  case when n.session_id is null and n.target_url not like 'phone://%' then n.latency_ms end as latency_ms`;

/** Returns SQL for the histogram's bucket of a charge `c`. */
export const bucketOf = (sql: Queryable) => sql`
  (case when c.latency_ms < 1 then 0
    else 1 + floor(ln(c.latency_ms::float8) / ln(${LATENCY_GROWTH}::float8)) end)::smallint`;
