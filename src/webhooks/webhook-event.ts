import type { EventRow } from '../ledger/rules/companion.ts';

/**
 * Builds `webhook.deactivated`, for an endpoint that the server switched off. The event is not in the catalogue, so only the
 * account's endpoints with the scope `global` and a subscription to `*` receive it.
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
