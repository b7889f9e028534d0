import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { WebhookLog } from '../../../webhooks/delivery/deliveries.ts';
import { envelopeOf } from '../../../webhooks/envelope.ts';
import { LogRecord, logRecord } from '../webhooks/webhook-shape.ts';

/** Reads one delivery: the exact payload, and the beginning of the answer. */
export const deliveryDetail = route<{ webhookLog: WebhookLog }>()({
  method: 'GET',
  path: '/v1/developer/webhook-deliveries/:deliveryId',
  credential: 'management',
  summary: 'Read one delivery with its payload and the answer',
  params: z.object({ deliveryId: z.string().max(128) }),
  response: z.object({
    delivery: LogRecord.extend({
      payload: z.record(z.string(), z.unknown()),
      responseBody: z.string().nullable(),
      nextRetryAt: z.string().nullable(),
    }),
  }),

  async handle({ caller, params, services }) {
    const found = await services.webhookLog.detail(caller.accountId, params.deliveryId);
    const { dueAt, event, firedAt, payload, position, responseBody, status } = found;
    return ok({
      delivery: {
        ...logRecord(found),
        payload: envelopeOf({ name: event, payload, position, createdAt: firedAt }),
        responseBody,
        nextRetryAt: status === 'retrying' ? (dueAt?.toISOString() ?? null) : null,
      },
    });
  },
});
