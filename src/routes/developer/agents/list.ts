import { z } from 'zod';
import type { Agents } from '../../../accounts/management/agents.ts';
import { ok, route } from '../../../http/route/route.ts';
import { AgentRecord } from './agent-shape.ts';

/** The developer's agents, closed ones last. */
export const listAgents = route<{ agents: Agents }>()({
  method: 'GET',
  path: '/v1/developer/agents',
  credential: 'management',
  summary: 'List agents',
  response: z.object({ agents: z.array(AgentRecord) }),

  async handle({ caller, services }) {
    return ok({ agents: await services.agents.list(caller.accountId) });
  },
});
