import type { EventRow } from '../ledger/rules/companion.ts';

/**
 * `webhook.deactivated`: the server switched an endpoint off. It is no member of the catalogue, so that only endpoints of
 * the account which subscribed to `*`, with the scope `global`, receive it.
 */
export const webhookDeactivated = (endpoint: {
  readonly id: number;
  readonly accountId: string;
  readonly url: string;
  readonly reason: string;
}): EventRow => ({
  name: 'webhook.deactivated',
  accountId: endpoint.accountId,
  agentWallet: null,
  correlationId: null,
  payload: { webhookId: endpoint.id, url: endpoint.url, reason: endpoint.reason },
});
