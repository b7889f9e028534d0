import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import type { Awareness } from '../../spend/awareness/awareness.ts';

/** Reads the state of the agent's loans. */
export const loanState = route<{ awareness: Awareness }>()({
  method: 'GET',
  path: '/v1/agents/loan-state',
  credential: 'agent',
  summary: "The state of the calling agent's loans",
  response: z.object({
    state: z.enum(['idle', 'borrowing', 'repaying', 'at_limit']),
    reason: z.string(),
    details: z.object({ available: z.string(), creditLimit: z.string() }),
  }),

  async handle({ caller, services }) {
    return ok(await services.awareness.loanState(caller.agentId));
  },
});
