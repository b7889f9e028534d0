import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { AccountCaps } from '../../../spend/awareness/account-caps.ts';

/** Reads the one cap on all spending of the developer's agents, if there is one. */
export const accountCap = route<{ accountCaps: AccountCaps }>()({
  method: 'GET',
  path: '/v1/developer/policies/account-cap',
  credential: 'management',
  summary: 'What caps the whole account',
  response: z.object({
    configured: z.boolean(),
    limitRaw: z.string().nullable(),
    spentRaw: z.string(),
    windowKind: z.enum(['rolling', 'calendar', 'once', 'session']).nullable(),
    windowResetsAt: z.string().nullable(),
  }),

  async handle({ caller, services }) {
    return ok(await services.accountCaps.accountCap(caller.accountId));
  },
});
