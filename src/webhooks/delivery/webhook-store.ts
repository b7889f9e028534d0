import type { Queryable } from '../../platform/postgres/sql.ts';
import { WEBHOOK_LIMITS } from '../limits.ts';
import type { Webhook } from './webhook.ts';

type Row = {
  id: number;
  account_id: string;
  url: string;
  events: string[];
  scope: Webhook['scope'];
  scope_value: string | null;
  description: string | null;
  active: boolean;
  inactive_reason: string | null;
  max_per_second: number | null;
  created_at: Date;
};

/** Columns that may be shown. None has a secret. */
const shown = (sql: Queryable) => sql`id, account_id, url, events, scope, scope_value, description,
  active, inactive_reason, max_per_second, created_at`;

const toWebhook = (row: Row): Webhook => ({
  id: row.id,
  accountId: row.account_id,
  url: row.url,
  events: row.events,
  scope: row.scope,
  scopeValue: row.scope_value,
  description: row.description,
  active: row.active,
  inactiveReason: row.inactive_reason,
  maxPerSecond: row.max_per_second,
  createdAt: row.created_at,
});

export type NewWebhook = Pick<
  Webhook,
  'accountId' | 'url' | 'events' | 'scope' | 'scopeValue' | 'description' | 'maxPerSecond'
> & { readonly sealedSecret: Uint8Array };

/**
 * Inserts a webhook. Undefined when the account has its limit of webhooks. The caller must hold the lock of the account's row.
 */
export async function insertWebhook(
  tx: Queryable,
  webhook: NewWebhook,
): Promise<Webhook | undefined> {
  const { accountId, description, events, maxPerSecond, scope, scopeValue, sealedSecret, url } =
    webhook;
  const [row] = await tx<Row[]>`
    insert into webhooks
      (account_id, url, events, scope, scope_value, description, max_per_second, sealed_secret)
    select ${accountId}, ${url}, ${events as string[]}::text[], ${scope}, ${scopeValue},
      ${description}, ${maxPerSecond}, ${Buffer.from(sealedSecret)}
    where (select count(*) from webhooks where account_id = ${accountId}) < ${WEBHOOK_LIMITS.endpoint.perAccount}
    returning ${shown(tx)}`;
  return row && toWebhook(row);
}

/** Reads all webhooks of the account, ordered by id. The limit per account bounds their number. */
export async function findWebhooks(sql: Queryable, accountId: string): Promise<Webhook[]> {
  const rows = await sql<Row[]>`
    select ${shown(sql)} from webhooks where account_id = ${accountId} order by id`;
  return rows.map(toWebhook);
}

/** Reads a webhook. Undefined when the account has no such webhook. */
export async function findWebhook(
  sql: Queryable,
  { accountId, id }: Pick<Webhook, 'accountId' | 'id'>,
): Promise<Webhook | undefined> {
  const [row] = await sql<Row[]>`
    select ${shown(sql)} from webhooks where id = ${id} and account_id = ${accountId}`;
  return row && toWebhook(row);
}

export type WebhookChange = Partial<
  Pick<Webhook, 'url' | 'events' | 'active' | 'description' | 'maxPerSecond'>
>;

/**
 * Changes the members that are defined. A defined `active` clears the failures and the reason of a deactivation. Undefined when
 * the account has no such webhook.
 */
export async function updateWebhook(
  sql: Queryable,
  { accountId, id }: Pick<Webhook, 'accountId' | 'id'>,
  change: WebhookChange,
): Promise<Webhook | undefined> {
  const { active, description, events, maxPerSecond, url } = change;
  const [row] = await sql<Row[]>`
    update webhooks set
      url = ${url === undefined ? sql`url` : url},
      events = ${events === undefined ? sql`events` : sql`${events as string[]}::text[]`},
      description = ${description === undefined ? sql`description` : description},
      max_per_second = ${maxPerSecond === undefined ? sql`max_per_second` : maxPerSecond},
      active = ${active === undefined ? sql`active` : active},
      inactive_reason = ${active === undefined ? sql`inactive_reason` : null},
      failing_since = ${active === undefined ? sql`failing_since` : null}
    where id = ${id} and account_id = ${accountId}
    returning ${shown(sql)}`;
  return row && toWebhook(row);
}

/** Returns true when the webhook existed. */
export async function deleteWebhook(
  sql: Queryable,
  { accountId, id }: Pick<Webhook, 'accountId' | 'id'>,
): Promise<boolean> {
  const rows = await sql`
    delete from webhooks where id = ${id} and account_id = ${accountId} returning id`;
  return rows.length > 0;
}

/**
 * Replaces the signing secret. The previous secret also signs for `previousMs`; 0 ends it at once. Returns false when the
 * account has no such webhook.
 */
export async function replaceSecret(
  sql: Queryable,
  { accountId, id }: Pick<Webhook, 'accountId' | 'id'>,
  fresh: { readonly sealedSecret: Uint8Array; readonly previousMs: number },
): Promise<boolean> {
  const { previousMs, sealedSecret } = fresh;
  const rows = await sql`
    update webhooks set sealed_secret = ${Buffer.from(sealedSecret)},
      sealed_previous = case when ${previousMs} > 0 then sealed_secret end,
      previous_until = case when ${previousMs} > 0
        then now() + ${previousMs} * interval '1 millisecond' end
    where id = ${id} and account_id = ${accountId}
    returning id`;
  return rows.length > 0;
}

/** Locks the account's row, so that changes of its webhooks run one after the other and the limit holds. */
export async function lockWebhooks(tx: Queryable, accountId: string): Promise<void> {
  await tx`select 1 from developers where account_id = ${accountId} for no key update`;
}

/** Reads the sealed secrets that sign for a webhook now. */
export async function findSecrets(
  sql: Queryable,
  { accountId, id }: Pick<Webhook, 'accountId' | 'id'>,
): Promise<{ readonly sealedSecret: Buffer; readonly sealedPrevious: Buffer | null } | undefined> {
  const [row] = await sql<{ sealedSecret: Buffer; sealedPrevious: Buffer | null }[]>`
    select sealed_secret as "sealedSecret",
      case when previous_until > now() then sealed_previous end as "sealedPrevious"
    from webhooks where id = ${id} and account_id = ${accountId}`;
  return row;
}
