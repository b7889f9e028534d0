import { z } from 'zod';
import { PHONE_LIMITS } from '../../../phone/limits.ts';
import type { Suspension, TelephonyStop } from '../../../phone/suspensions/suspension.ts';

export const AccountRef = z.object({ accountId: z.string().min(1).max(64) });

/** Reason that the operator chose. `carrier_usage` is the reason of suspensions by the carrier's monthly limit. */
export const Reason = z
  .string()
  .regex(new RegExp(`^[a-z0-9_]{1,${PHONE_LIMITS.agent.suspensionReasonChars}}$`), {
    message: 'may hold lower-case letters, digits and _',
  });

export const SuspensionRecord = z.object({
  accountId: z.string(),
  reason: z.string(),
  createdAt: z.string(),
});

export const suspensionRecord = ({ accountId, createdAt, reason }: Suspension) => ({
  accountId,
  reason,
  createdAt: createdAt.toISOString(),
});

export const StopRecord = z.object({ reason: z.string(), createdAt: z.string() });

export const stopRecord = ({ createdAt, reason }: TelephonyStop) => ({
  reason,
  createdAt: createdAt.toISOString(),
});
