import { z } from 'zod';
import type { Agents } from '../../../accounts/management/agents.ts';
import { ok, route } from '../../../http/route/route.ts';
import { AgentParams } from './agent-shape.ts';

/** Suspends or resumes an agent. The change applies from its next call on. */
export const setAgentStatus = route<{ agents: Agents }>()({
  method: 'PATCH',
  path: '/v1/developer/agents/:agentId/status',
  credential: 'management',
  summary: 'Suspend or resume an agent',
  params: AgentParams,
  body: z.object({ status: z.enum(['suspended', 'active']) }),
  response: z.object({
    id: z.number(),
    status: z.string(),
    suspendedReason: z.string().nullable(),
  }),

  async handle({ caller, params, body, services }) {
    const { accountId } = caller;
    return ok(await services.agents.setStatus(accountId, params.agentId, body.status));
  },
});
