import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { WebhookRecoveries } from '../../../webhooks/delivery/deliveries.ts';
import { RecoveryRecord, recoveryRecord, WebhookParams } from './webhook-shape.ts';

/** Reads the progress of a recovery. */
export const webhookRecovery = route<{ webhookRecoveries: WebhookRecoveries }>()({
  method: 'GET',
  path: '/v1/developer/webhooks/:id/recoveries/:recoveryId',
  credential: 'management',
  summary: 'Read how far a recovery has come',
  params: WebhookParams.extend({
    recoveryId: z
      .string()
      .regex(/^\d{1,9}$/, 'must be a number')
      .transform(Number),
  }),
  response: z.object({ recovery: RecoveryRecord }),

  async handle({ caller, params, services }) {
    const place = { accountId: caller.accountId, id: params.id };
    const recovery = await services.webhookRecoveries.recovery(place, params.recoveryId);
    return ok({ recovery: recoveryRecord(recovery) });
  },
});
