import { z } from 'zod';
import type { Funding } from '../../../accounts/management/funding.ts';
import { ok, route } from '../../../http/route/route.ts';
import { AgentParams } from './agent-shape.ts';

/** Reads the deposit address of an agent, with warnings about all that keeps a deposit from being seen. */
export const agentFunding = route<{ funding: Funding }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/funding',
  credential: 'management',
  summary: 'Where to send USDC for an agent',
  params: AgentParams,
  response: z.object({
    agentId: z.number().int(),
    depositAddress: z.string(),
    network: z.string(),
    chainId: z.number().int(),
    token: z.string(),
    tokenContract: z.string(),
    forwardingEnabled: z.boolean(),
    spendableBalance: z.string(),
    warnings: z.array(z.string()),
    dashboardUrl: z.string(),
  }),

  async handle({ caller, params, services }) {
    return ok(await services.funding.read(caller.accountId, params.agentId));
  },
});
