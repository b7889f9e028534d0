import { z } from 'zod';
import { ok, route } from '../../../../http/route/route.ts';
import type { Numbers } from '../../../../phone/numbers/numbers.ts';
import { AgentParams } from '../agent-shape.ts';
import { NumberRecord } from './number-shape.ts';

/** Lists the numbers of an agent, newest first and with released numbers, and the present price of another number. */
export const listAgentNumbers = route<{ numbers: Numbers }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/numbers',
  credential: 'management',
  summary: "An agent's phone numbers",
  params: AgentParams,
  response: z.object({ numbers: z.array(NumberRecord), rentalRaw: z.string().nullable() }),

  async handle({ caller, params, services }) {
    const { accountId } = caller;
    return ok(await services.numbers.list({ accountId, agentId: params.agentId }));
  },
});
