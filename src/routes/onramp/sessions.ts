import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import { PAYMENT_LIMITS } from '../../payments/limits.ts';
import type { Onramp } from '../../payments/ramp/onramp.ts';
import { Limit } from '../transfers/page-limit.ts';

/** Lists the sessions of the on-ramp that the account has opened, newest first. */
export const listOnrampSessions = route<{ onramp: Onramp }>()({
  method: 'GET',
  path: '/v1/onramp/sessions',
  credential: 'management',
  summary: 'List sessions of the on-ramp',
  query: z.object({
    recoveryOnly: z.enum(['true', 'false', '1', '0']).default('false'),
    limit: Limit(PAYMENT_LIMITS.ramp.sessionsPage.usual),
  }),
  response: z.object({
    sessions: z.array(
      z.object({
        id: z.string(),
        status: z.enum(['created', 'completed', 'expired']),
        sweepStatus: z.enum(['none', 'pending', 'completed']),
        mode: z.literal('hosted'),
        fiatAmount: z.string().nullable(),
        cryptoAmount: z.string().nullable(),
        createdAt: z.string(),
      }),
    ),
  }),

  async handle({ caller, query, services }) {
    const recoveryOnly = query.recoveryOnly === 'true' || query.recoveryOnly === '1';
    const page = { recoveryOnly, limit: query.limit };
    return ok({ sessions: await services.onramp.list(caller.accountId, page) });
  },
});
