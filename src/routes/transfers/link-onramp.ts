import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import type { Transfers } from '../../payments/transfers/transfers.ts';
import { TransferParams, Uuid } from './transfer-shape.ts';

/** Notes that a transfer carries on what was bought in a session of the on-ramp. */
export const linkTransferOnramp = route<{ transfers: Transfers }>()({
  method: 'POST',
  path: '/v1/transfers/:id/link-onramp',
  credential: 'management',
  summary: 'Link a transfer to a session of the on-ramp',
  right: 'money_out',
  params: TransferParams,
  body: z.object({ onrampId: Uuid }),
  response: z.object({ ok: z.literal(true) }),

  async handle({ caller, params, body, services }) {
    return ok(await services.transfers.linkOnramp(caller.accountId, params.id, body.onrampId));
  },
});
