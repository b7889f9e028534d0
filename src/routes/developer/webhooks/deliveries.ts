import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { WebhookLog } from '../../../webhooks/delivery/deliveries.ts';
import { WEBHOOK_LIMITS } from '../../../webhooks/limits.ts';
import { DeliveryRecord, deliveryRecord, WebhookParams } from './webhook-shape.ts';

/** Lists the deliveries to an endpoint, newest first. */
export const listWebhookDeliveries = route<{ webhookLog: WebhookLog }>()({
  method: 'GET',
  path: '/v1/developer/webhooks/:id/deliveries',
  credential: 'management',
  summary: 'List the deliveries of a webhook',
  params: WebhookParams,
  query: z.object({
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(WEBHOOK_LIMITS.page.log.most)
      .default(WEBHOOK_LIMITS.page.log.usual),
    offset: z.coerce.number().int().min(0).max(WEBHOOK_LIMITS.page.logOffset).default(0),
  }),
  response: z.object({ deliveries: z.array(DeliveryRecord) }),

  async handle({ caller, params, query, services }) {
    const place = { accountId: caller.accountId, id: params.id };
    const deliveries = await services.webhookLog.list(place, query);
    return ok({ deliveries: deliveries.map(deliveryRecord) });
  },
});
