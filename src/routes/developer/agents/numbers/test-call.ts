import { z } from 'zod';
import { created, route } from '../../../../http/route/route.ts';
import type { Calls } from '../../../../phone/calls/calls.ts';
import { phoneErrors } from '../../../../phone/errors.ts';
import type { Numbers } from '../../../../phone/numbers/numbers.ts';
import { PlacedCall } from '../../../calls/call-shape.ts';
import { NumberParams } from './number-shape.ts';

/** Places a call from a number as its agent would, with the same pipeline and the same charges. */
export const testCallNumber = route<{ numbers: Numbers; calls: Calls }>()({
  method: 'POST',
  path: '/v1/developer/agents/:agentId/numbers/:numberId/test-call',
  credential: 'management',
  summary: 'Call from a number to try it',
  idempotent: true,
  rateLimit: 'try',
  params: NumberParams,
  body: z.object({ toNumber: z.string().max(32) }),
  response: PlacedCall,

  async handle({ body, caller, params, services }) {
    const number = await services.numbers.read({ accountId: caller.accountId, ...params });
    if (number.status === 'released') throw phoneErrors.numberRequired();
    const placed = await services.calls.place({
      agentId: params.agentId,
      accountId: caller.accountId,
      spender: {},
      to: body.toNumber,
      maxSpendRaw: undefined,
      detectsMachine: false,
      wantsReport: false,
      isRecorded: false,
    });
    return created(placed);
  },
});
