import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { AccountCaps } from '../../../spend/awareness/account-caps.ts';

/** Returns the spend controls that a new agent has by default. */
export const policyDefaults = route<{ accountCaps: AccountCaps }>()({
  method: 'GET',
  path: '/v1/developer/policies/defaults',
  credential: 'management',
  summary: 'Controls of new agents',
  response: z.object({
    sessionLimitRaw: z.string().nullable(),
    autoPauseEnabled: z.boolean(),
    allowlistMode: z.enum(['off', 'host', 'vendor', 'both']),
  }),

  handle({ services }) {
    return ok(services.accountCaps.defaults());
  },
});
