import { ok, route } from '../../../../http/route/route.ts';
import type { Numbers } from '../../../../phone/numbers/numbers.ts';
import { NumberParams, OneNumber } from './number-shape.ts';

/** Releases a number at once, without a refund. Its history stays; a repeated request changes nothing. */
export const releaseAgentNumber = route<{ numbers: Numbers }>()({
  method: 'DELETE',
  path: '/v1/developer/agents/:agentId/numbers/:numberId',
  credential: 'management',
  summary: 'Release a phone number for good',
  params: NumberParams,
  response: OneNumber,

  async handle({ caller, params, services }) {
    const number = { accountId: caller.accountId, ...params };
    return ok({ number: await services.numbers.release(number) });
  },
});
