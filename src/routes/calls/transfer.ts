import { z } from 'zod';
import { LIMITS } from '../../kernel/limits.ts';
import { CallText, commandRoute } from './command-route.ts';

/** Connects the other person of a live call to another number, once what is said now is heard. */
export const transferCall = commandRoute({
  name: 'transfer',
  summary: 'Connect a live call to another number',
  body: z.object({
    to: z.string().max(32),
    /** The person at the other number hears it first. */
    summary: CallText(LIMITS.phone.transferSummaryChars).optional(),
  }),
  commandOf: (body) => ({ kind: 'transfer', ...body }),
});
