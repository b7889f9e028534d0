import { z } from 'zod';
import type { AccountCaps } from '../../../controls/account-caps.ts';
import { ok, route } from '../../../http/route.ts';

/** The controls that a new agent begins with. */
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
