import { z } from 'zod';
import { ok, route } from '../../../../http/route/route.ts';
import type { Numbers } from '../../../../phone/numbers/numbers.ts';
import { AgentParams } from '../agent-shape.ts';

/** Searches the numbers that can be rented now. Reserves none. */
export const searchAgentNumbers = route<{ numbers: Numbers }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/numbers/search',
  credential: 'management',
  summary: 'Phone numbers that an agent could rent',
  rateLimit: 'search',
  params: AgentParams,
  query: z.object({ areaCode: z.string().optional() }),
  response: z.object({
    numbers: z.array(
      z.object({
        phoneNumber: z.string(),
        friendlyName: z.string(),
        locality: z.string().nullable(),
        region: z.string().nullable(),
      }),
    ),
  }),

  async handle({ caller, params, query, services }) {
    const agent = { accountId: caller.accountId, agentId: params.agentId };
    return ok({ numbers: await services.numbers.search(agent, query.areaCode) });
  },
});
