import { ok, route } from '../../../http/route/route.ts';
import type { WebhookTries } from '../../../webhooks/delivery/deliveries.ts';
import { TriedRecord, triedRecord, WebhookParams } from './webhook-shape.ts';

/** Sends a test event now. The response is 200 even when the endpoint refused the event. */
export const testWebhook = route<{ webhookTries: WebhookTries }>()({
  method: 'POST',
  path: '/v1/developer/webhooks/:id/test',
  credential: 'management',
  summary: 'Send a test event to a webhook',
  rateLimit: 'try',
  params: WebhookParams,
  response: TriedRecord,

  async handle({ caller, params, services }) {
    const place = { accountId: caller.accountId, id: params.id };
    return ok(triedRecord(await services.webhookTries.test(place)));
  },
});
