import { ok, route } from '../../../http/route/route.ts';
import type { CashOuts } from '../../../payments/cash-outs/cash-outs.ts';
import { OrderParams, OrderWithPage, visitorOf } from '../order-shape.ts';

/** Reads a cash-out. While it waits for the provider's form, each read with a writing credential opens a new page of it. */
export const readCashOut = route<{ cashOuts: CashOuts }>()({
  method: 'GET',
  path: '/v1/offramp/orders/:ref',
  credential: 'management',
  summary: 'Read a cash-out',
  params: OrderParams,
  response: OrderWithPage,

  async handle({ caller, params, clientAddress, services }) {
    return ok(await services.cashOuts.read(visitorOf(caller, clientAddress), params.ref));
  },
});
