import { route } from '../../../../http/route/route.ts';
import type { Numbers } from '../../../../phone/numbers/numbers.ts';
import { AgentParams } from '../agent-shape.ts';
import { bought } from './bought.ts';
import { BuyBody, OneNumber } from './number-shape.ts';

/** Rents a number for an agent and charges its first month. */
export const buyAgentNumber = route<{ numbers: Numbers }>()({
  method: 'POST',
  path: '/v1/developer/agents/:agentId/numbers',
  credential: 'management',
  summary: 'Rent a phone number for an agent',
  params: AgentParams,
  idempotent: true,
  body: BuyBody,
  status: 201,
  response: OneNumber,

  async handle({ body, caller, params, services, span }) {
    const { accountId } = caller;
    return bought(
      await services.numbers.buy({ accountId, spender: { agentId: params.agentId }, span }, body),
    );
  },
});
