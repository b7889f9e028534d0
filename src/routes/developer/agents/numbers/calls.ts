import { z } from 'zod';
import { ok, route } from '../../../../http/route/route.ts';
import type { Numbers } from '../../../../phone/numbers/numbers.ts';
import { NumberParams } from './number-shape.ts';

/** Lists the latest calls of a number, latest first. */
export const agentNumberCalls = route<{ numbers: Numbers }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/numbers/:numberId/calls',
  credential: 'management',
  summary: 'The latest calls of a phone number',
  params: NumberParams,
  response: z.object({
    calls: z.array(
      z.object({
        id: z.string(),
        direction: z.enum(['inbound', 'outbound']),
        from: z.string(),
        to: z.string(),
        status: z.string(),
        durationSeconds: z.number(),
        startedAt: z.string().nullable(),
        endedAt: z.string().nullable(),
      }),
    ),
  }),

  async handle({ caller, params, services }) {
    const number = { accountId: caller.accountId, ...params };
    return ok({ calls: await services.numbers.calls(number) });
  },
});
