import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import { webhookRecord } from '../../../webhooks/delivery/webhook.ts';
import type { Webhooks } from '../../../webhooks/delivery/webhooks.ts';
import { WebhookParams, WebhookRecord } from './webhook-shape.ts';

/** Reads one endpoint with the statistics of its deliveries in the last 30 days. */
export const webhookDetail = route<{ webhooks: Webhooks }>()({
  method: 'GET',
  path: '/v1/developer/webhooks/:id',
  credential: 'management',
  summary: 'Read a webhook with its delivery statistics',
  params: WebhookParams,
  response: z.object({
    webhook: WebhookRecord,
    deliveryStats: z.object({
      pending: z.number(),
      success: z.number(),
      failed: z.number(),
      retrying: z.number(),
      total: z.number(),
    }),
  }),

  async handle({ caller, params, services }) {
    const place = { accountId: caller.accountId, id: params.id };
    const { stats, webhook } = await services.webhooks.read(place);
    const total = stats.pending + stats.success + stats.failed + stats.retrying;
    return ok({ webhook: webhookRecord(webhook), deliveryStats: { ...stats, total } });
  },
});
