import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import type { WebhookLog } from '../../webhooks/delivery/deliveries.ts';
import { envelopeOf } from '../../webhooks/envelope.ts';
import { WEBHOOK_LIMITS } from '../../webhooks/limits.ts';

const { most, usual } = WEBHOOK_LIMITS.page.feed;

/** Lists the account's events in the order in which they were dispatched, for developers without a public webhook address. */
export const listEvents = route<{ webhookLog: WebhookLog }>()({
  method: 'GET',
  path: '/v1/developer/events',
  credential: 'management',
  summary: 'Read the events of the last 30 days in their order',
  query: z.object({
    /** Event `sequence` after which the page begins. Absent: the page begins with the oldest event. */
    after: z
      .string()
      .regex(/^\d{1,15}$/, 'must be the sequence of an event')
      .default('0')
      .transform(BigInt),
    /** `true`: the response has no events, only the `after` value from which to read future events. */
    latest: z.enum(['true', 'false']).default('false'),
    limit: z.coerce.number().int().min(1).max(most).default(usual),
  }),
  response: z.object({
    events: z.array(
      z.looseObject({ event: z.string(), sequence: z.number(), firedAt: z.string() }),
    ),
    /** Value of `after` for the next request. Unchanged when the page has no events. */
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
