import { z } from 'zod';
import { PROMPT_CACHING } from '../../../../accounts/keys/key.ts';
import { SPEND_LIMITS } from '../../../../spend/limits.ts';
import { RawAmount } from '../../../raw-amount.ts';
import { RowId } from '../../../row-id.ts';
import { keyRequest } from '../../keys/key-shape.ts';

export const AgentKeyParams = z.object({ agentId: RowId, keyId: RowId });

/** Seconds of a budget's window. Absent: thirty days for a new budget; a changed budget keeps its window. */
export const BudgetWindow = z
  .number()
  .int()
  .min(SPEND_LIMITS.budget.windowSeconds.min)
  .max(SPEND_LIMITS.budget.windowSeconds.max)
  .nullish();

/** Prompt caching of a key. Absent: a replaced key's setting stays, and a new key has `off`. */
export const PromptCaching = z.enum(PROMPT_CACHING).optional();

export const MintBody = z
  .object({
    ...keyRequest,
    promptCaching: PromptCaching,
    budgetRaw: RawAmount.nullish(),
    windowSeconds: BudgetWindow,
  })
  .refine((body) => body.windowSeconds == null || body.budgetRaw != null, {
    path: ['windowSeconds'],
    message: 'needs budgetRaw',
  });

export const BudgetView = z.object({
  policyId: z.number(),
  limitRaw: z.string(),
  spentRaw: z.string(),
  remainingRaw: z.string(),
  windowKind: z.enum(['rolling', 'calendar', 'once', 'session']),
  windowResetsAt: z.string().nullable(),
});

/** An agent key. The secret, `key`, is present only in the response that creates the key. */
export const AgentKeyRecord = z.object({
  id: z.number(),
  keyId: z.number(),
  keyPrefix: z.string(),
  label: z.string().nullable(),
  permissions: z.enum(['read', 'read_write']),
  promptCaching: z.enum(PROMPT_CACHING),
  lastUsedAt: z.string().nullable(),
  createdAt: z.string(),
  budget: BudgetView.nullable(),
});
