import { NO_RETRY, notConfigured, refusal } from '../kernel/refusal.ts';
import { WEBHOOK_LIMITS } from './limits.ts';

/** Refusals of webhooks and of their log (spec, Errors; contract A §14). */
export const webhookErrors = {
  urlNotHttps: () =>
    refusal(400, 'url must be HTTPS', 'Events are sent over HTTPS only: name an https URL.'),
  blockedDestination: (reason: string) => refusal(400, 'blocked_destination', `url: ${reason}.`),
  noEvents: (message = 'Name at least one event, "*", or "<prefix>.*".') =>
    refusal(400, 'events must be a non-empty array', message, {
      next: {
        hint: 'Read the names of all events',
        method: 'GET',
        path: '/v1/developer/webhooks/events',
      },
    }),
  invalidScope: (message: string) =>
    refusal(400, 'invalid_scope', message, {
      next: {
        hint: 'The scope of a webhook cannot change: make another webhook',
        method: 'POST',
        path: '/v1/developer/webhooks',
      },
    }),
  scopeValueRequired: (scope: string) =>
    refusal(
      400,
      'scopeValue required for non-global scope',
      `scopeValue: name the ${scope === 'loan' ? 'loan id' : 'wallet address'} that the scope "${scope}" means.`,
    ),
  limitExceeded: () =>
    refusal(
      400,
      'Limit exceeded',
      `Maximum ${WEBHOOK_LIMITS.endpoint.perAccount} webhooks allowed`,
    ),
  notFound: () => refusal(404, 'Webhook not found', 'There is no such webhook.'),
  deliveryNotFound: () =>
    refusal(404, 'delivery_not_found', 'There is no such delivery; they are kept for 30 days.', {
      next: {
        hint: 'Read the log of all deliveries',
        method: 'GET',
        path: '/v1/developer/webhook-deliveries',
      },
    }),
  /** Refusal of a retry. By its words clients of the retry route distinguish a missing delivery from a missing webhook. */
  nothingToRetry: () => refusal(404, 'Delivery not found', 'This webhook has no such delivery.'),
  notRetryable: (message: string) => refusal(409, 'not_retryable', message, {}, NO_RETRY),
  recoveryRunning: () =>
    refusal(409, 'recovery_running', 'A recovery of this webhook is under way.', {}, NO_RETRY),
  recoveryNotFound: () => refusal(404, 'recovery_not_found', 'There is no such recovery.'),
  inactive: () =>
    refusal(
      409,
      'webhook_inactive',
      'This webhook is switched off: switch it on first.',
      {},
      NO_RETRY,
    ),
  invalidFilter: (message: string) => refusal(400, 'invalid_filter', message),
  invalidCursor: () =>
    refusal(400, 'invalid_cursor', 'cursor: use nextCursor of the page before, as it is.', {
      next: {
        hint: 'Begin without a cursor',
        method: 'GET',
        path: '/v1/developer/webhook-deliveries',
      },
    }),
  unavailable: () =>
    notConfigured(
      'webhooks_unavailable',
      'This server cannot seal the secrets of webhooks.',
      'PROVIDER_KEY_SECRET',
    ),
};
