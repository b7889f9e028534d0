import type { DeliveryStatus } from '../../../machines/webhook-delivery.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { WEBHOOK_LIMITS } from '../limits.ts';
import type { DeliveryDetail, LogFilter, LoggedDelivery, TriedDelivery } from './delivery.ts';

const columns = (sql: Queryable) => sql`d.id, d.delivery_id as "deliveryId",
  d.webhook_id as "webhookId", w.url as "webhookUrl", d.event, lower(d.agent_wallet) as "agentWallet",
  d.correlation_id as "correlationId", d.status, d.attempt, d.status_code as "statusCode", d.error,
  d.created_at as "createdAt"`;

const kept = (sql: Queryable) =>
  sql`d.created_at > now() - ${WEBHOOK_LIMITS.kept.days} * interval '1 day'`;

/** Reads deliveries of an account that match a filter, newest first. */
export async function findDeliveries(
  sql: Queryable,
  accountId: string,
  filter: LogFilter & { readonly limit: number; readonly offset?: number },
): Promise<LoggedDelivery[]> {
  const { agent, beforeId, endpoint, event, from, id, limit, offset = 0, status, to } = filter;
  const all = sql``;
  return sql<LoggedDelivery[]>`
    select ${columns(sql)} from webhook_deliveries d left join webhooks w on w.id = d.webhook_id
    where d.account_id = ${accountId} and ${kept(sql)}
      ${endpoint === undefined ? all : sql`and d.webhook_id = ${endpoint}`}
      ${event === undefined ? all : sql`and d.event = ${event}`}
      ${agent === undefined ? all : sql`and lower(d.agent_wallet) = ${agent}`}
      ${status === undefined ? all : sql`and d.status = ${status}`}
      ${from === undefined ? all : sql`and d.created_at >= ${from}`}
      ${to === undefined ? all : sql`and d.created_at <= ${to}`}
      ${id === undefined ? all : sql`and (d.delivery_id = ${id} or d.correlation_id = ${id})`}
      ${beforeId === undefined ? all : sql`and d.id < ${String(beforeId)}`}
    order by d.id desc limit ${limit} offset ${offset}`;
}

/** Reads one delivery. Undefined when the account has no such delivery, or it has expired. */
export async function findDelivery(
  sql: Queryable,
  accountId: string,
  deliveryId: string,
): Promise<DeliveryDetail | undefined> {
  const [row] = await sql<DeliveryDetail[]>`
    select ${columns(sql)}, d.event_id as "eventId", d.response_body as "responseBody",
      d.due_at as "dueAt", coalesce(d.payload, e.payload) as payload, e.position,
      coalesce(e.created_at, d.created_at) as "firedAt"
    from webhook_deliveries d left join webhooks w on w.id = d.webhook_id
      left join events e on e.id = d.event_id
    where d.delivery_id = ${deliveryId} and d.account_id = ${accountId} and ${kept(sql)}`;
  return row;
}

/** Counts the stored deliveries of a webhook by their status. */
export async function countDeliveries(
  sql: Queryable,
  webhookId: number,
): Promise<Readonly<Record<DeliveryStatus, number>>> {
  const rows = await sql<{ status: DeliveryStatus; n: number }[]>`
    select status, count(*)::int as n from webhook_deliveries
    where webhook_id = ${webhookId} group by status`;
  const stats = { pending: 0, success: 0, failed: 0, retrying: 0 };
  for (const { n, status } of rows) stats[status] = n;
  return stats;
}

export async function insertTried(sql: Queryable, tried: TriedDelivery): Promise<void> {
  await sql`
    insert into webhook_deliveries (delivery_id, webhook_id, account_id, event, event_id,
      agent_wallet, correlation_id, payload, status, attempt, status_code, error, response_body)
    values (${tried.deliveryId}, ${tried.webhookId}, ${tried.accountId}, ${tried.event},
      ${tried.eventId === null ? null : String(tried.eventId)}, ${tried.agentWallet}, ${tried.correlationId},
      ${tried.payload === null ? null : JSON.stringify(tried.payload)}::text::jsonb,
      ${tried.status}, 1, ${tried.statusCode}, ${tried.error}, ${tried.responseBody})`;
}
