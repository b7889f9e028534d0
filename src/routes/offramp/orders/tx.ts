import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { CashOuts } from '../../../payments/cash-outs/cash-outs.ts';
import { TxHash } from '../../transfers/transfer-shape.ts';
import { OrderOnly, OrderParams } from '../order-shape.ts';

/** Notes the transaction with which the developer has sent the USDC of a cash-out to the provider. */
export const reportCashOutSend = route<{ cashOuts: CashOuts }>()({
  method: 'POST',
  path: '/v1/offramp/orders/:ref/tx',
  credential: 'management',
  summary: 'Report the transaction that sends the USDC of a cash-out',
  right: 'money_out',
  params: OrderParams,
  body: z.object({ txHash: TxHash }),
  response: OrderOnly,

  async handle({ caller, params, body, services }) {
    return ok(await services.cashOuts.reportSend(caller.accountId, params.ref, body.txHash));
  },
});
