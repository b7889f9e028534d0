import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import { PAYMENT_LIMITS } from '../../payments/limits.ts';
import type { Transfers } from '../../payments/transfers/transfers.ts';
import { RowId } from '../row-id.ts';
import { Limit } from './page-limit.ts';
import { Direction, TransferStatus } from './transfer-shape.ts';

/** Lists the account's transfers, newest first. */
export const listTransfers = route<{ transfers: Transfers }>()({
  method: 'GET',
  path: '/v1/transfers',
  credential: 'management',
  summary: 'List transfers between the developer’s wallet and its agents',
  query: z.object({
    agentId: RowId.optional(),
    limit: Limit(PAYMENT_LIMITS.transfer.page.usual),
  }),
  response: z.object({
    transfers: z.array(
      z.object({
        id: z.string(),
        agentId: z.number().int(),
        counterpartyAgentId: z.number().int().nullable(),
        direction: Direction,
        fromAddress: z.string(),
        toAddress: z.string(),
        amountRaw: z.string(),
        status: TransferStatus,
        txHash: z.string().nullable(),
        failureReason: z.string().nullable(),
        createdAt: z.string(),
      }),
    ),
  }),

  async handle({ caller, query, services }) {
    const { agentId, limit } = query;
    return ok({ transfers: await services.transfers.list(caller.accountId, agentId, limit) });
  },
});
