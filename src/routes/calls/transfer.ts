import { z } from 'zod';
import { PHONE_LIMITS } from '../../phone/limits.ts';
import { CallText, commandRoute } from './command-route.ts';

/** Connects the caller or callee of a live call to another number, once the words in progress were heard. */
export const transferCall = commandRoute({
  name: 'transfer',
  summary: 'Connect a live call to another number',
  body: z.object({
    to: z.string().max(32),
    /** Summary of the call that the person at the other number hears first. */
    summary: CallText(PHONE_LIMITS.transfer.summaryChars).optional(),
  }),
  commandOf: (body) => ({ kind: 'transfer', ...body }),
});
