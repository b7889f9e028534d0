import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Numbers } from '../../../phone/numbers/numbers.ts';

/** Lists the numbers that all agents of the developer rent now. The member `number` is the phone number. */
export const listPhoneNumbers = route<{ numbers: Numbers }>()({
  method: 'GET',
  path: '/v1/developer/phone/numbers',
  credential: 'management',
  summary: 'All rented phone numbers, with calls of 7 days and spend of the month',
  response: z.object({
    numbers: z.array(
      z.object({
        number: z.string(),
        agentId: z.number(),
        agentName: z.string(),
        status: z.enum(['active', 'grace']),
        calls7d: z.number(),
        spendMtdRaw: z.string(),
      }),
    ),
  }),

  async handle({ caller, services }) {
    return ok({ numbers: await services.numbers.fleet(caller.accountId) });
  },
});
