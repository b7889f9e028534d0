import { ok, route } from '../../../../http/route/route.ts';
import type { Numbers } from '../../../../phone/numbers/numbers.ts';
import { NumberParams, OneNumber } from './number-shape.ts';

/** Reads one number of an agent, even after its release. */
export const agentNumber = route<{ numbers: Numbers }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/numbers/:numberId',
  credential: 'management',
  summary: 'Read a phone number of an agent',
  params: NumberParams,
  response: OneNumber,

  async handle({ caller, params, services }) {
    const number = { accountId: caller.accountId, ...params };
    return ok({ number: await services.numbers.read(number) });
  },
});
