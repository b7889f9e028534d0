import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { WebhookTries } from '../../../webhooks/delivery/deliveries.ts';
import { TriedRecord, triedRecord, WebhookParams } from './webhook-shape.ts';

/** Sends a finished delivery again at once, with a new delivery id. */
export const retryWebhookDelivery = route<{ webhookTries: WebhookTries }>()({
  method: 'POST',
  path: '/v1/developer/webhooks/:id/deliveries/:deliveryId/retry',
  credential: 'management',
  summary: 'Send a delivery again',
  rateLimit: 'try',
  params: WebhookParams.extend({ deliveryId: z.string().max(128) }),
  response: TriedRecord,

  async handle({ caller, params, services }) {
    const place = { accountId: caller.accountId, id: params.id };
    return ok(triedRecord(await services.webhookTries.retry(place, params.deliveryId)));
  },
});
