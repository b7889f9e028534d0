import { z } from 'zod';
import { ACCOUNT_LIMITS } from '../../../accounts/limits.ts';
import type { Agents } from '../../../accounts/management/agents.ts';
import { ok, route } from '../../../http/route/route.ts';
import { AgentParams, AgentRecord } from './agent-shape.ts';

const { min, max } = ACCOUNT_LIMITS.agent.expirySeconds;

/** Renews the delegation of an agent with a credit line. Its term starts now, and the agent's keys work again at once. */
export const renewAgentDelegation = route<{ agents: Agents }>()({
  method: 'POST',
  path: '/v1/developer/agents/:agentId/renew-delegation',
  credential: 'management',
  summary: 'Renew the delegation of an agent',
  params: AgentParams,
  /** Length of the new delegation in seconds. Absent: the length of the previous delegation. */
  body: z.object({ expirySeconds: z.number().int().min(min).max(max).optional() }),
  response: AgentRecord.extend({ agent: AgentRecord }),

  async handle({ caller, params, body, services }) {
    const { accountId } = caller;
    return ok(await services.agents.renewDelegation(accountId, params.agentId, body.expirySeconds));
  },
});
