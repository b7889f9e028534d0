import { z } from 'zod';
import type { Agents } from '../../accounts/management/agents.ts';
import { ok, route } from '../../http/route/route.ts';
import { AgentBalance } from '../developer/agents/agent-shape.ts';

/** Reads the balance that the agent may spend now. A closed agent may still look. */
export const agentBalance = route<{ agents: Agents }>()({
  method: 'GET',
  path: '/v1/agents/balance',
  credential: 'agent',
  summary: "The calling agent's balance",
  admitsClosed: true,
  response: AgentBalance.extend({
    status: z.literal('closed').optional(),
    remainingLoans: z.array(z.unknown()).optional(),
  }),

  async handle({ caller, services }) {
    return ok(await services.agents.balance(caller.agentId));
  },
});
