import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import type { Transfers } from '../../payments/transfers/transfers.ts';
import { TransferParams, TransferState, TxHash } from './transfer-shape.ts';

/** Notes the transaction of a transfer that the developer has signed. The chain alone credits an agent. */
export const confirmTransfer = route<{ transfers: Transfers }>()({
  method: 'POST',
  path: '/v1/transfers/:id/confirm',
  credential: 'management',
  summary: 'Report the transaction of a transfer that the developer has sent',
  right: 'money_out',
  params: TransferParams,
  body: z.object({ txHash: TxHash }),
  response: TransferState,

  async handle({ caller, params, body, services }) {
    return ok(await services.transfers.confirm(caller.accountId, params.id, body.txHash));
  },
});
