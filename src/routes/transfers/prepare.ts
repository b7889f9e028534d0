import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import type { Transfers } from '../../payments/transfers/transfers.ts';
import { RawAmount } from '../raw-amount.ts';
import { Address, AgentId, Direction, Uuid } from './transfer-shape.ts';

/** Prepares a transfer between the developer's wallet and its agents. Nothing moves before it is executed or sent. */
export const prepareTransfer = route<{ transfers: Transfers }>()({
  method: 'POST',
  path: '/v1/transfers/prepare',
  credential: 'management',
  summary: 'Prepare a transfer between the developer’s wallet and its agents',
  right: 'money_out',
  body: z.object({
    direction: Direction,
    agentId: AgentId,
    toAgentId: AgentId.nullish().transform((id) => id ?? undefined),
    toAddress: Address.nullish().transform((address) => address ?? undefined),
    onrampId: Uuid.nullish().transform((id) => id ?? undefined),
    amountRaw: RawAmount,
  }),
  response: z.object({
    transferId: z.string(),
    direction: Direction,
    signerKind: z.enum(['external_eoa', 'embedded_wallet', 'managed_server']),
    fromAddress: z.string(),
    toAddress: z.string(),
    amountRaw: z.string(),
    availableRaw: z.string(),
    nextAction: z.literal('execute').optional(),
    chainId: z.number().int().optional(),
    to: z.string().optional(),
    data: z.string().optional(),
    value: z.string().optional(),
  }),

  async handle({ caller, body, services }) {
    return ok(await services.transfers.prepare(caller.accountId, body));
  },
});
