import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Webhooks } from '../../../webhooks/delivery/webhooks.ts';
import { WebhookParams } from './webhook-shape.ts';

/** Replaces the signing secret. For a day the old secret also signs the Standard Webhooks header. */
export const rotateWebhookSecret = route<{ webhooks: Webhooks }>()({
  method: 'POST',
  path: '/v1/developer/webhooks/:id/rotate-secret',
  credential: 'management',
  summary: 'Replace the signing secret of a webhook',
  params: WebhookParams,
  query: z.object({
    /** `true`: the old secret stops signing at once. */
    immediate: z.enum(['true', 'false']).default('false'),
  }),
  response: z.object({ secret: z.string() }),

  async handle({ caller, params, query, services }) {
    const place = { accountId: caller.accountId, id: params.id };
    const secret = await services.webhooks.rotateSecret(place, query.immediate === 'true');
    return ok({ secret });
  },
});
