import { z } from 'zod';
import { created, route } from '../../../http/route/route.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { WebhookRecoveries } from '../../../webhooks/delivery/deliveries.ts';
import { RecoveryRecord, recoveryRecord, WebhookParams } from './webhook-shape.ts';

/** Starts to resend, oldest first and in the background, the deliveries to a webhook that have failed since a given time. */
export const recoverWebhook = route<{ webhookRecoveries: WebhookRecoveries; clock: Clock }>()({
  method: 'POST',
  path: '/v1/developer/webhooks/:id/recover',
  credential: 'management',
  summary: 'Send again what has failed since a time',
  status: 201,
  params: WebhookParams,
  body: z
    .object({
      since: z.iso.datetime({ offset: true }),
      until: z.iso.datetime({ offset: true }).optional(),
    })
    .refine(({ since, until }) => until === undefined || Date.parse(since) <= Date.parse(until), {
      path: ['until'],
      message: 'must not lie before since',
    }),
  response: z.object({ recovery: RecoveryRecord }),

  async handle({ body, caller, params, services }) {
    const place = { accountId: caller.accountId, id: params.id };
    const until = body.until === undefined ? services.clock.now() : Date.parse(body.until);
    const span = { since: new Date(body.since), until: new Date(until) };
    return created({
      recovery: recoveryRecord(await services.webhookRecoveries.recover(place, span)),
    });
  },
});
