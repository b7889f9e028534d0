import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Awareness } from '../../../spend/awareness/awareness.ts';
import { AgentParams } from './agent-shape.ts';
import { ChainRow } from './chain-shape.ts';

/** Lists everything that limits an agent's spending now, with its balance last. */
export const agentLimitChain = route<{ awareness: Awareness }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/limit-chain',
  credential: 'management',
  summary: 'Everything that limits an agent now',
  params: AgentParams,
  response: z.object({ agentId: z.number(), asOf: z.string(), chain: z.array(ChainRow) }),

  async handle({ caller, params, services }) {
    return ok(await services.awareness.limitChain(caller.accountId, params.agentId));
  },
});
