import { z } from 'zod';
import { CONFIG_LIMITS } from '../../../config/limits.ts';

export const AccountRef = z.object({ accountId: z.string().min(1).max(64) });

/** Concurrent calls that an account may have. Null: the operator's limit for all accounts applies. */
export const ConcurrentCalls = z
  .number()
  .int()
  .min(1)
  .max(CONFIG_LIMITS.phone.concurrentCalls.most)
  .nullable();

export const CallLimitRecord = z.object({
  accountId: z.string(),
  concurrentCalls: ConcurrentCalls,
});
