import { z } from 'zod';
import { hasRight } from '../../accounts/developers/role.ts';
import type { DeveloperCaller } from '../../http/route/caller.ts';
import type { Visitor } from '../../payments/cash-outs/open-page.ts';

export const OrderParams = z.object({
  ref: z.string().regex(/^[\w-]{1,64}$/, 'must be the reference of an order'),
});

export const Order = z.object({
  ref: z.string(),
  sourceKind: z.enum(['agent_wallet', 'embedded_wallet']),
  agentId: z.number().int().nullable(),
  status: z.enum([
    'created',
    'leg1_pending',
    'awaiting_form',
    'awaiting_send',
    'sent',
    'processing',
    'completed',
    'failed',
    'expired',
    'cancelled',
  ]),
  devEoaAddress: z.string(),
  agentWalletAddress: z.string().nullable(),
  requestedAmountRaw: z.string(),
  finalAmountRaw: z.string().nullable(),
  fiatEstimate: z.string().nullable(),
  cdpDepositAddress: z.string().nullable(),
  cdpTransactionId: z.string().nullable(),
  leg1TransferId: z.string().nullable(),
  leg1TxHash: z.string().nullable(),
  leg2TxHash: z.string().nullable(),
  failureReason: z.string().nullable(),
  asset: z.literal('USDC'),
  chain: z.literal('base'),
  createdAt: z.string(),
  updatedAt: z.string(),
});

/** An order, and the provider's page for one visit of the user while the order waits for the form. */
export const OrderWithPage = z.object({
  order: Order,
  sessionToken: z.string().nullable(),
  payUrl: z.string().nullable(),
});

export const OrderOnly = z.object({ order: Order });

/** Returns the visitor of an order. A caller that may move no money gets no token of the provider. */
export const visitorOf = (
  { accountId, permission, role }: DeveloperCaller,
  clientIp: string,
): Visitor => ({
  accountId,
  clientIp,
  mayAct: permission === 'read_write' && hasRight(role, 'money_out'),
});
