import { ok, route } from '../../http/route/route.ts';
import type { Transfers } from '../../payments/transfers/transfers.ts';
import { TransferParams, TransferState } from './transfer-shape.ts';

/** Executes a prepared transfer that this server signs. A repeat moves nothing and answers the state by then. */
export const executeTransfer = route<{ transfers: Transfers }>()({
  method: 'POST',
  path: '/v1/transfers/:id/execute',
  credential: 'management',
  summary: 'Execute a prepared transfer out of an agent’s wallet',
  right: 'money_out',
  params: TransferParams,
  response: TransferState,

  async handle({ caller, params, services }) {
    return ok(await services.transfers.execute(caller.accountId, params.id));
  },
});
