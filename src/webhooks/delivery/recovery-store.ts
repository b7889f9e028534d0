import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import { WEBHOOK_LIMITS } from '../limits.ts';
import type { Recovery } from './delivery.ts';

const columns = (sql: Queryable) => sql`id, webhook_id as "webhookId", since, until, requeued,
  created_at as "createdAt", finished_at as "finishedAt"`;

/** Inserts a recovery. Undefined when a recovery of the webhook is in progress. */
export async function insertRecovery(
  sql: Queryable,
  recovery: {
    readonly accountId: string;
    readonly webhookId: number;
    readonly since: Date;
    readonly until: Date;
  },
): Promise<Recovery | undefined> {
  const { accountId, since, until, webhookId } = recovery;
  const [row] = await sql<Recovery[]>`
    insert into webhook_recoveries (webhook_id, account_id, since, until)
    values (${webhookId}, ${accountId}, ${since}, ${until})
    on conflict do nothing returning ${columns(sql)}`;
  return row;
}

export async function findRecovery(
  sql: Queryable,
  {
    accountId,
    id,
    webhookId,
  }: { readonly accountId: string; readonly webhookId: number; readonly id: number },
): Promise<Recovery | undefined> {
  const [row] = await sql<Recovery[]>`
    select ${columns(sql)} from webhook_recoveries
    where id = ${id} and webhook_id = ${webhookId} and account_id = ${accountId}`;
  return row;
}

/**
 * Advances one recovery by a step: puts its next failed deliveries, oldest first, into the queue again under their delivery
 * ids, with three attempts each. Returns true when there was a recovery.
 */
export async function stepRecovery(sql: Sql, nowMs: number): Promise<boolean> {
  const limit = WEBHOOK_LIMITS.kept.requeuedPerStep;
  const rows = await sql`
    with recovery as materialized (
      select * from webhook_recoveries where finished_at is null
      order by id limit 1 for update skip locked),
    failed as materialized (
      select d.id from recovery r, lateral (
        select id from webhook_deliveries
        where webhook_id = r.webhook_id and id > r.cursor_id and status = 'failed'
          and event_id is not null and created_at between r.since and r.until
        order by id limit ${limit}) d),
    again as (
      update webhook_deliveries d set status = 'pending', attempt = 0, error = null,
        status_code = null, response_body = null, due_at = ${new Date(nowMs)}
      from failed where d.id = failed.id and d.status = 'failed' returning 1)
    update webhook_recoveries r set
      cursor_id = coalesce((select max(id) from failed), r.cursor_id),
      requeued = r.requeued + (select count(*) from again),
      finished_at = case when (select count(*) from failed) < ${limit} then now() end
    from recovery where r.id = recovery.id returning r.id`;
  return rows.length > 0;
}
