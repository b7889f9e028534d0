import { z } from 'zod';
import { LIMITS } from '../../../kernel/limits.ts';
import { isStorable } from '../../../platform/postgres/storable.ts';

const status = z.enum(['success', 'failure', 'partial', 'unknown']);

/** Outcome of an action. An absent `scoreBps` or `note` reads as null. */
export const OutcomeBody = z.object({
  status,
  scoreBps: z.number().int().min(0).max(LIMITS.maxScoreBps).nullable().default(null),
  note: z
    .string()
    .max(LIMITS.outcomeNoteChars)
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
