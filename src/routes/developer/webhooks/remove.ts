import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Webhooks } from '../../../webhooks/delivery/webhooks.ts';
import { WebhookParams } from './webhook-shape.ts';

/** Deletes a webhook. Pending deliveries are not sent; its delivery log stays for the usual retention time. */
export const removeWebhook = route<{ webhooks: Webhooks }>()({
  method: 'DELETE',
  path: '/v1/developer/webhooks/:id',
  credential: 'management',
  summary: 'Delete a webhook',
  params: WebhookParams,
  response: z.object({ message: z.string() }),

  async handle({ caller, params, services }) {
    await services.webhooks.remove({ accountId: caller.accountId, id: params.id });
    return ok({ message: 'Webhook deleted' });
  },
});
