import { z } from 'zod';
import { route } from '../../../../http/route/route.ts';
import type { TestRing } from '../../../../phone/carriers/test-ring.ts';
import { phoneErrors } from '../../../../phone/errors.ts';
import type { Numbers } from '../../../../phone/numbers/numbers.ts';
import { NumberParams } from './number-shape.ts';

/** Number of the simulated caller, from the range that is reserved for fiction. */
const STRANGER = '+14155550123';

/** Simulates an inbound call to an agent's number over the loopback carrier. Admission and charges are those of a real call. */
export const testRingNumber = route<{ numbers: Numbers; testRing: TestRing }>()({
  method: 'POST',
  path: '/v1/developer/agents/:agentId/numbers/:numberId/test-ring',
  credential: 'management',
  summary: 'Have a stranger call a number, over the loopback carrier',
  idempotent: true,
  rateLimit: 'try',
  status: 202,
  params: NumberParams,
  body: z.object({ from: z.string().max(32).default(STRANGER) }),
  response: z.object({
    /** Id of the call. Null: the call was not admitted, and `call.rejected` says why. */
    callId: z.string().nullable(),
    from: z.string(),
    to: z.string(),
  }),

  async handle({ body, caller, params, services }) {
    const number = await services.numbers.read({ accountId: caller.accountId, ...params });
    if (number.status === 'released') throw phoneErrors.noNumberToRing();
    const parties = { from: body.from, to: number.phoneNumber };
    const callId = await services.testRing.ring(parties);
    return { status: 202, body: { callId: callId ?? null, ...parties }, headers: {} };
  },
});
