/** Kinds of value that the scope of a webhook is compared with. */
export const WEBHOOK_SCOPES = ['global', 'wallet', 'agent', 'loan'] as const;
export type WebhookScope = (typeof WEBHOOK_SCOPES)[number];

export type Webhook = {
  readonly id: number;
  readonly accountId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly scope: WebhookScope;
  readonly scopeValue: string | null;
  readonly description: string | null;
  readonly active: boolean;
  /** Reason why the server switched the webhook off; null for a webhook that is on or was switched off by its owner. */
  readonly inactiveReason: string | null;
  readonly maxPerSecond: number | null;
  readonly createdAt: Date;
};

/** Associated data of a webhook's sealed secret, so that it opens for no other account. */
export const secretPlace = (accountId: string): string => `webhook:${accountId}`;

/** Returns a webhook as the API shows it. The secret is missing: only the answer to its creation shows it. */
export const webhookRecord = (webhook: Webhook) => ({
  id: webhook.id,
  url: webhook.url,
  events: webhook.events,
  scope: webhook.scope,
  scopeValue: webhook.scopeValue,
  active: webhook.active,
  inactiveReason: webhook.inactiveReason,
  maxPerSecond: webhook.maxPerSecond,
  description: webhook.description,
  createdAt: webhook.createdAt.toISOString(),
});
