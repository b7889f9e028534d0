import { z } from 'zod';
import type { Agents } from '../../../accounts/management/agents.ts';
import { ok, route } from '../../../http/route/route.ts';
import { AgentParams, AgentRecord } from './agent-shape.ts';

/** Reads one agent with its credit utilization and recent activity. */
export const agentDetail = route<{ agents: Agents }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId',
  credential: 'management',
  summary: 'One agent in detail',
  params: AgentParams,
  response: z.object({
    agent: AgentRecord,
    creditUsed: z.string(),
    utilizationBps: z.number(),
    recentTransactionCount24h: z.number(),
    sessionSpend: z.object({
      limitRaw: z.string().nullable(),
      startedAtUnix: z.number().nullable(),
    }),
  }),

  async handle({ caller, params, services }) {
    return ok(await services.agents.detail(caller.accountId, params.agentId));
  },
});
