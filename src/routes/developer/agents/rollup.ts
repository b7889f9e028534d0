import { z } from 'zod';
import type { Agents } from '../../../accounts/management/agents.ts';
import { ok, route } from '../../../http/route/route.ts';

/**
 * Summarizes each agent of the developer: available amount, spending of the last 30 days, phone number and number of working
 * keys.
 */
export const agentsRollup = route<{ agents: Agents }>()({
  method: 'GET',
  path: '/v1/developer/agents/rollup',
  credential: 'management',
  summary: 'All agents with balance, spend of 30 days and number of keys',
  response: z.object({
    agents: z.array(
      z.object({
        id: z.number(),
        name: z.string(),
        status: z.string(),
        balanceRaw: z.string(),
        spend30dRaw: z.string(),
        utilizationBps: z.number(),
        phone: z.string().nullable(),
        keysCount: z.number(),
      }),
    ),
  }),

  async handle({ caller, services }) {
    return ok({ agents: await services.agents.rollup(caller.accountId) });
  },
});
