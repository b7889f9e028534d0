import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import { webhookRecord } from '../../../webhooks/delivery/webhook.ts';
import type { Webhooks } from '../../../webhooks/delivery/webhooks.ts';
import { webhookErrors } from '../../../webhooks/errors.ts';
import { WebhookParams, WebhookRecord, webhookRequest } from './webhook-shape.ts';

/** Changes the address or the events of a webhook, or disables it. Its scope never changes. */
export const changeWebhook = route<{ webhooks: Webhooks }>()({
  method: 'PATCH',
  path: '/v1/developer/webhooks/:id',
  credential: 'management',
  summary: 'Change a webhook',
  params: WebhookParams,
  body: z.looseObject({
    url: webhookRequest.url.optional(),
    events: webhookRequest.events.optional(),
    active: z.boolean().optional(),
    description: webhookRequest.description,
    maxPerSecond: webhookRequest.maxPerSecond,
  }),
  response: z.object({ webhook: WebhookRecord }),

  async handle({ body, caller, params, services }) {
    if ('scope' in body || 'scopeValue' in body) {
      throw webhookErrors.invalidScope('scope: the scope of a webhook cannot change.');
    }
    const place = { accountId: caller.accountId, id: params.id };
    const webhook = await services.webhooks.change(place, body);
    return ok({ webhook: webhookRecord(webhook) });
  },
});
