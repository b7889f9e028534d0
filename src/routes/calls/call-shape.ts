import { z } from 'zod';

export const CallParams = z.object({ callId: z.string().min(1).max(64) });

const CALL_STATUSES = ['pending', 'in_progress', 'ending', 'completed', 'failed'] as const;

export const PlacedCall = z.object({
  callId: z.string(),
  from: z.string(),
  to: z.string(),
  /** State of the call at the time of the response. It is `queued` unless the call has advanced since it was placed. */
  status: z.enum(['queued', ...CALL_STATUSES]),
  taskId: z.string(),
});

export const CallAnswer = z.object({
  callId: z.string(),
  status: z.enum(CALL_STATUSES),
  /** True when the call is over and its row no longer changes. */
  terminal: z.boolean(),
  /** Reason why the call has ended or is ending. Null: the call continues. */
  endReason: z.string().nullable(),
  /** Data that a ConversationRelay application has handed over with its end message. */
  handoffData: z.string().optional(),
});
