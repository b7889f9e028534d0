import { errors } from '../../kernel/errors.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Webhook } from './webhook.ts';
import { findWebhook } from './webhook-store.ts';

/** Throws the refusal of a webhook that the account does not have. */
export async function requireWebhook(
  sql: Queryable,
  place: Pick<Webhook, 'accountId' | 'id'>,
): Promise<Webhook> {
  const webhook = await findWebhook(sql, place);
  if (webhook === undefined) throw errors.webhooks.notFound();
  return webhook;
}
