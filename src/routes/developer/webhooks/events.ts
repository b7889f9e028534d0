import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Webhooks } from '../../../webhooks/delivery/webhooks.ts';
import { eventSchema } from '../../../webhooks/event-schema.ts';

/** Lists the event kinds that webhooks can subscribe to, with the shape of each payload. */
export const listEventKinds = route<{ webhooks: Webhooks }>()({
  method: 'GET',
  path: '/v1/developer/webhooks/events',
  credential: 'management',
  summary: 'List every event that a webhook can subscribe to',
  response: z.object({
    events: z.array(
      z.object({
        name: z.string(),
        title: z.string(),
        description: z.string(),
        category: z.string(),
        scope: z.string(),
        schema: z.record(z.string(), z.unknown()),
      }),
    ),
  }),

  handle({ services }) {
    const events = services.webhooks.kinds.map((kind) => {
      const { category, description, name, scope, title } = kind;
      return { name, title, description, category, scope, schema: eventSchema(kind) };
    });
    return ok({ events });
  },
});
