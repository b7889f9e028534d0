import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import { webhookRecord } from '../../../webhooks/delivery/webhook.ts';
import type { Webhooks } from '../../../webhooks/delivery/webhooks.ts';
import { WebhookRecord } from './webhook-shape.ts';

/** Lists the account's webhooks. */
export const listWebhooks = route<{ webhooks: Webhooks }>()({
  method: 'GET',
  path: '/v1/developer/webhooks',
  credential: 'management',
  summary: 'List webhooks',
  response: z.object({ webhooks: z.array(WebhookRecord) }),

  async handle({ caller, services }) {
    const webhooks = await services.webhooks.list(caller.accountId);
    return ok({ webhooks: webhooks.map(webhookRecord) });
  },
});
