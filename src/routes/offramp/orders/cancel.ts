import { ok, route } from '../../../http/route/route.ts';
import type { CashOuts } from '../../../payments/cash-outs/cash-outs.ts';
import { OrderOnly, OrderParams } from '../order-shape.ts';

/** Cancels a cash-out before its USDC is sent. USDC of its first leg stays in the developer's wallet. */
export const cancelCashOut = route<{ cashOuts: CashOuts }>()({
  method: 'POST',
  path: '/v1/offramp/orders/:ref/cancel',
  credential: 'management',
  summary: 'Cancel a cash-out',
  right: 'money_out',
  params: OrderParams,
  response: OrderOnly,

  async handle({ caller, params, services }) {
    return ok(await services.cashOuts.cancel(caller.accountId, params.ref));
  },
});
