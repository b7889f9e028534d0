import { z } from 'zod';

/** A credit threshold in the form that the routes return. */
export const Threshold = z.object({
  id: z.number(),
  thresholdBps: z.number(),
  lastState: z.enum(['below', 'above']),
  lastFiredAt: z.string().nullable(),
  webhookId: z.number().nullable(),
});
