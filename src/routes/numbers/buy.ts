import { route } from '../../http/route/route.ts';
import { readSpender } from '../../models/purchase/read-spender.ts';
import type { Numbers } from '../../phone/numbers/numbers.ts';
import { bought } from '../developer/agents/numbers/bought.ts';
import { BuyBody, OneNumber } from '../developer/agents/numbers/number-shape.ts';

/** Buys a number for the calling agent, under the budget of its key and the tags of the request. */
export const buyOwnNumber = route<{ numbers: Numbers }>()({
  method: 'POST',
  path: '/v1/numbers',
  credential: 'agent',
  summary: 'Rent a phone number for the calling agent',
  rateLimit: 'control',
  idempotent: true,
  body: BuyBody,
  status: 201,
  response: OneNumber,

  async handle({ body, caller, headers, services, span }) {
    const { accountId } = caller;
    const spender = readSpender(caller, headers);
    return bought(await services.numbers.buy({ accountId, spender, span }, body));
  },
});
