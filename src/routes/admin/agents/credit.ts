import { z } from 'zod';
import { adminErrors } from '../../../accounts/errors.ts';
import { ACCOUNT_LIMITS } from '../../../accounts/limits.ts';
import type { Admin } from '../../../accounts/management/admin.ts';
import { ok, route } from '../../../http/route/route.ts';
import { RawAmount } from '../../raw-amount.ts';
import { AgentRef } from './admin-shape.ts';

const Body = z.object({
  amountRaw: RawAmount,
  /** Unique reference of this credit. A repeated request with the same reference credits nothing. */
  reference: z
    .string()
    .min(1)
    .max(ACCOUNT_LIMITS.agent.referenceChars)
    .regex(/^[\x21-\x7e]+$/, 'may hold printable ASCII without spaces'),
});

/** Adds to an agent's balance without a transfer on a chain. */
export const adminCreditAgent = route<{ admin: Admin }>()({
  method: 'POST',
  path: '/v1/admin/agents/:agentId/credit',
  credential: 'admin',
  summary: "Add to an agent's balance, once for each reference",
  params: AgentRef,
  body: Body,
  badJson: adminErrors.invalidJson,
  response: z.object({
    agentId: z.number(),
    reference: z.string(),
    amountRaw: z.string(),
    credited: z.boolean(),
    balance: z.string(),
    spendableRaw: z.string(),
  }),

  async handle({ body, clientAddress, params, requestId, services }) {
    const { amountRaw, reference } = body;
    const by = { clientAddress, requestId };
    return ok(await services.admin.credit(params.agentId, amountRaw, reference, by));
  },
});
