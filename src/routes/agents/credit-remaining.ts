import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import type { Awareness } from '../../spend/awareness/awareness.ts';

/** Reads the amounts that the agent may still spend: its balance, its credit and the limit of its session. */
export const creditRemaining = route<{ awareness: Awareness }>()({
  method: 'GET',
  path: '/v1/agents/credit-remaining',
  credential: 'agent',
  summary: 'What the calling agent may still spend',
  response: z.object({
    available: z.string(),
    creditIn: z.string(),
    creditOut: z.string(),
    creditLimit: z.string(),
    headroomToAutoBorrow: z.string(),
    utilizationBps: z.number(),
    sessionSpendLimit: z.string().nullable(),
    sessionSpent: z.string(),
    sessionSpendRemaining: z.string().nullable(),
    asOf: z.string(),
  }),

  async handle({ caller, services }) {
    return ok(await services.awareness.creditRemaining(caller.agentId));
  },
});
