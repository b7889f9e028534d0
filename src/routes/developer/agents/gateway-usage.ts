import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Attribution } from '../../../spend/attribution/attribution.ts';
import { AgentParams } from './agent-shape.ts';

/** Reads the number and cost of the gateway calls of an agent so far, by model and rail. */
export const agentGatewayUsage = route<{ attribution: Attribution }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/gateway-usage',
  credential: 'management',
  summary: "An agent's gateway calls and their cost, by model",
  params: AgentParams,
  response: z.object({
    totalCalls: z.number(),
    totalCostRaw: z.string(),
    byModel: z.array(
      z.object({ model: z.string(), rail: z.string(), calls: z.number(), costRaw: z.string() }),
    ),
  }),

  async handle({ caller, params, services }) {
    return ok(await services.attribution.gatewayUsage(caller.accountId, params.agentId));
  },
});
