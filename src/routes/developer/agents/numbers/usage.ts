import { z } from 'zod';
import { ok, route } from '../../../../http/route/route.ts';
import type { Numbers } from '../../../../phone/numbers/numbers.ts';
import { NumberParams } from './number-shape.ts';

/** Reads the cost of a number by day, its rental and its calls; days without a charge are left out. */
export const agentNumberUsage = route<{ numbers: Numbers }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/numbers/:numberId/usage',
  credential: 'management',
  summary: 'What a phone number has cost by day',
  params: NumberParams,
  query: z.object({ days: z.string().optional() }),
  response: z.object({
    number: z.object({ id: z.number(), phoneNumber: z.string() }),
    days: z.number(),
    totalRaw: z.string(),
    daily: z.array(z.object({ day: z.string(), totalRaw: z.string(), requests: z.number() })),
    truncated: z.boolean(),
  }),

  async handle({ caller, params, query, services }) {
    const number = { accountId: caller.accountId, ...params };
    return ok(await services.numbers.usage(number, query.days));
  },
});
