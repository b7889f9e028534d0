import { z } from 'zod';

/** A credit threshold as it is listed and as it is made. */
export const Threshold = z.object({
  id: z.number(),
  thresholdBps: z.number(),
  lastState: z.enum(['below', 'above']),
  lastFiredAt: z.string().nullable(),
  webhookId: z.number().nullable(),
});
