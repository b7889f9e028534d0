import { z } from 'zod';
import { isStorable } from '../../../kernel/storable.ts';
import { SPEND_LIMITS } from '../../../spend/limits.ts';

const status = z.enum(['success', 'failure', 'partial', 'unknown']);

/** Outcome of an action. An absent `scoreBps` or `note` reads as null. */
export const OutcomeBody = z.object({
  status,
  scoreBps: z.number().int().min(0).max(SPEND_LIMITS.report.scoreBps).nullable().default(null),
  note: z
    .string()
    .max(SPEND_LIMITS.report.noteChars)
    .refine(isStorable, { message: 'may hold no NUL and no half of a surrogate pair' })
    .nullable()
    .default(null),
});

export const OutcomeRecord = z.object({
  status,
  scoreBps: z.number().nullable(),
  note: z.string().nullable(),
  reportCount: z.number(),
  reportedAt: z.string(),
});

/** Answer to a report: the outcome that the action has now. */
export const ReportedOutcome = z.object({ actionId: z.string(), outcome: OutcomeRecord });
