import { z } from 'zod';

/** One control that limits an agent: a policy, a cap or the balance. */
export const ChainRow = z.object({
  scope: z.enum(['agent', 'developer', 'balance']),
  kind: z.enum(['task', 'api', 'vendor', 'session', 'key']).nullable(),
  label: z.string().nullable(),
  policyId: z.number().nullable(),
  matchKey: z.string().nullable(),
  limitRaw: z.string(),
  spentRaw: z.string(),
  remainingRaw: z.string(),
  windowKind: z.enum(['rolling', 'calendar', 'once', 'session']).nullable(),
  windowResetsAt: z.string().nullable(),
});
