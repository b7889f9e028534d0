import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import { PAYMENT_LIMITS } from '../../payments/limits.ts';
import type { Payments } from '../../payments/reservations/payments.ts';

const Transaction = z.object({
  id: z.number().int(),
  agentId: z.number().int(),
  targetUrl: z.string(),
  method: z.string(),
  status: z.enum(['pending', 'success', 'failed']),
  paymentAmountRaw: z.string().nullable(),
  paymentRecipient: z.string().nullable(),
  responseStatusCode: z.number().int().nullable(),
  latencyMs: z.number().int().nullable(),
  x402TxHash: z.string().nullable(),
  nonce: z.string().nullable(),
  taskId: z.string().nullable(),
  actionId: z.string().nullable(),
  apiKeyId: z.number().int().nullable(),
  costRaw: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
});

/** Lists the calling agent's calls through the proxy, paid and free, newest first. A closed agent may still read them. */
export const listTransactions = route<{ payments: Payments }>()({
  method: 'GET',
  path: '/v1/agents/transactions',
  credential: 'agent',
  summary: 'The calling agent’s calls through the proxy',
  admitsClosed: true,
  query: z.object({
    cursor: z.string().optional(),
    limit: z
      .string()
      .regex(/^-?\d{1,15}$/, 'must be a whole number')
      .default(String(PAYMENT_LIMITS.historyPage.usual))
      .transform(Number),
  }),
  response: z.object({
    transactions: z.array(Transaction),
    nextCursor: z.number().int().nullable(),
    hasMore: z.boolean(),
  }),

  async handle({ caller, query, services }) {
    return ok(await services.payments.history(caller.agentId, query));
  },
});
