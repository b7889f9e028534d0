import { errors } from '../../kernel/errors.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Webhook } from './webhook.ts';
import { findWebhook } from './webhook-store.ts';

/** Returns a webhook of the account. Throws the refusal when the account has no such webhook. */
export async function requireWebhook(
  sql: Queryable,
  place: Pick<Webhook, 'accountId' | 'id'>,
): Promise<Webhook> {
  const webhook = await findWebhook(sql, place);
  if (webhook === undefined) throw errors.webhooks.notFound();
  return webhook;
}
