import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { WebhookLog } from '../../webhooks/delivery/deliveries.ts';
import { envelopeOf } from '../../webhooks/envelope.ts';

const { most, usual } = LIMITS.webhooks.feedPage;

/** The account's events in the order that they were dispatched in: what a developer reads who has no public address. */
export const listEvents = route<{ webhookLog: WebhookLog }>()({
  method: 'GET',
  path: '/v1/developer/events',
  credential: 'management',
  summary: 'Read the events of the last 30 days in their order',
  query: z.object({
    /** The `sequence` of the last event that was read; absent: from the oldest on. */
    after: z
      .string()
      .regex(/^\d{1,15}$/, 'must be the sequence of an event')
      .default('0')
      .transform(BigInt),
    /** `true`: no events, but the `after` with which a reader begins who wants those to come. */
    latest: z.enum(['true', 'false']).default('false'),
    limit: z.coerce.number().int().min(1).max(most).default(usual),
  }),
  response: z.object({
    events: z.array(
      z.looseObject({ event: z.string(), sequence: z.number(), firedAt: z.string() }),
    ),
    /** For the next request; it stays where it is while nothing happens. */
    after: z.string(),
    hasMore: z.boolean(),
  }),

  async handle({ caller, query, services }) {
    const { after, latest, limit } = query;
    if (latest === 'true') {
      const last = await services.webhookLog.lastPosition();
      return ok({ events: [], after: String(last), hasMore: false });
    }
    const rows = await services.webhookLog.feed(caller.accountId, { after, limit });
    return ok({
      events: rows.map(envelopeOf),
      after: String(rows.at(-1)?.position ?? after),
      hasMore: rows.length === limit,
    });
  },
});
