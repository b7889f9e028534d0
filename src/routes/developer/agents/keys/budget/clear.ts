import { z } from 'zod';
import type { AgentKeyBudgets } from '../../../../../accounts/management/agent-key-budgets.ts';
import { ok, route } from '../../../../../http/route/route.ts';
import { AgentKeyParams } from '../agent-key-shape.ts';

/** Removes the budget of a key, so that only the agent's own limits apply. */
export const clearAgentKeyBudget = route<{ agentKeyBudgets: AgentKeyBudgets }>()({
  method: 'DELETE',
  path: '/v1/developer/agents/:agentId/keys/:keyId/budget',
  credential: 'management',
  summary: 'Clear the budget of an agent key',
  params: AgentKeyParams,
  response: z.object({ status: z.literal('cleared') }),

  async handle({ caller, params, services }) {
    await services.agentKeyBudgets.clear(caller, params.agentId, params.keyId);
    return ok({ status: 'cleared' });
  },
});
