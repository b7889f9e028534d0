import { z } from 'zod';
import { ok, route } from '../http/route/route.ts';
import type { CallerLimits } from '../reports/caller-limits/caller-limits.ts';

/** Returns the limits that bind the caller, and what is left of each. */
export const callerLimits = route<{ callerLimits: CallerLimits }>()({
  method: 'GET',
  path: '/v1/limits',
  credential: 'any',
  summary: 'What binds the caller, and what is left of it',
  admitsClosed: true,
  admitsExpired: true,
  rateLimit: 'control',
  response: z.object({
    asOf: z.string(),
    limits: z.array(
      z.object({
        id: z.string(),
        what: z.string(),
        per: z.enum(['minute', 'at a time']),
        limit: z.number(),
        remaining: z.number(),
        resetsAt: z.string().nullable(),
        beyond: z.string(),
      }),
    ),
  }),

  async handle({ caller, services }) {
    return ok(await services.callerLimits.read(caller));
  },
});
