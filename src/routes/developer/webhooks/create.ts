import { z } from 'zod';
import { created, route } from '../../../http/route/route.ts';
import { WEBHOOK_SCOPES, webhookRecord } from '../../../webhooks/delivery/webhook.ts';
import type { Webhooks } from '../../../webhooks/delivery/webhooks.ts';
import { WebhookRecord, webhookRequest } from './webhook-shape.ts';

/** Registers a webhook. Its signing secret is in this response only. */
export const createWebhook = route<{ webhooks: Webhooks }>()({
  method: 'POST',
  path: '/v1/developer/webhooks',
  credential: 'management',
  summary: 'Register a webhook',
  status: 201,
  body: z
    .object({
      ...webhookRequest,
      scope: z.unknown().optional().meta({ enum: WEBHOOK_SCOPES }),
      scopeValue: z
        .unknown()
        .optional()
        .meta({ type: ['string', 'number', 'null'] }),
    })
    .meta({ required: ['url', 'events'] }),
  response: z.object({ webhook: WebhookRecord.extend({ secret: z.string() }) }),

  async handle({ body, caller, services }) {
    const { secret, webhook } = await services.webhooks.create(caller.accountId, body);
    return created({ webhook: { ...webhookRecord(webhook), secret } });
  },
});
