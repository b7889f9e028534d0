import type { Queryable } from '../../platform/postgres/sql.ts';
import { webhookErrors } from '../errors.ts';
import type { Webhook } from './webhook.ts';
import { findWebhook } from './webhook-store.ts';

/** Returns a webhook of the account. Throws the refusal when the account has no such webhook. */
export async function requireWebhook(
  sql: Queryable,
  place: Pick<Webhook, 'accountId' | 'id'>,
): Promise<Webhook> {
  const webhook = await findWebhook(sql, place);
  if (webhook === undefined) throw webhookErrors.notFound();
  return webhook;
}
