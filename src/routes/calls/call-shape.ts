import { z } from 'zod';

export const CallParams = z.object({ callId: z.string().min(1).max(64) });

export const PlacedCall = z.object({
  callId: z.string(),
  from: z.string(),
  to: z.string(),
  status: z.literal('queued'),
  taskId: z.string(),
});

export const CallAnswer = z.object({
  callId: z.string(),
  status: z.enum(['pending', 'in_progress', 'ending', 'completed', 'failed']),
  /** The call can no longer change. */
  terminal: z.boolean(),
});
