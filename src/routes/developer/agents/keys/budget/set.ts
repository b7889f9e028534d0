import { z } from 'zod';
import { ACCOUNT_LIMITS } from '../../../../../accounts/limits.ts';
import type { AgentKeyBudgets } from '../../../../../accounts/management/agent-key-budgets.ts';
import { ok, route } from '../../../../../http/route/route.ts';
import { controlErrors } from '../../../../../spend/errors.ts';
import { parseRaw } from '../../../../raw-amount.ts';
import { AgentKeyParams, BudgetView, BudgetWindow } from '../agent-key-shape.ts';

/** Sets or changes the budget of a key. Money that the key has spent before still counts. */
export const setAgentKeyBudget = route<{ agentKeyBudgets: AgentKeyBudgets }>()({
  method: 'PUT',
  path: '/v1/developer/agents/:agentId/keys/:keyId/budget',
  credential: 'management',
  summary: 'Set the budget of an agent key',
  params: AgentKeyParams,
  body: z.object({ budgetRaw: z.string(), windowSeconds: BudgetWindow }),
  response: z.object({ budget: BudgetView }),

  async handle({ caller, params, body, services }) {
    const budgetRaw = parseRaw(body.budgetRaw);
    // An amount that cannot be parsed has an error code of its own here.
    if (budgetRaw === undefined)
      throw controlErrors.invalidBudget(String(ACCOUNT_LIMITS.agent.creditRaw));
    const wanted = { budgetRaw, windowSeconds: body.windowSeconds };
    const { agentId, keyId } = params;
    return ok({ budget: await services.agentKeyBudgets.set(caller, agentId, keyId, wanted) });
  },
});
