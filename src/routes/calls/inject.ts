import { z } from 'zod';
import { PHONE_LIMITS } from '../../phone/limits.ts';
import { CallText, commandRoute } from './command-route.ts';

/** Adds a system message to the conversation of a live call. */
export const injectIntoCall = commandRoute({
  name: 'inject',
  summary: 'Add a system message to the conversation of a live call',
  body: z.object({
    text: CallText(PHONE_LIMITS.commands.injectChars),
    /** The model answers at once; otherwise it reads the message with the next turn. */
    respond: z.boolean().default(false),
  }),
  commandOf: (body) => ({ kind: 'inject', ...body }),
});
