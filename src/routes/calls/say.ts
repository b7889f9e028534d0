import { z } from 'zod';
import { PHONE_LIMITS } from '../../phone/limits.ts';
import { CallText, commandRoute } from './command-route.ts';

/** Has the agent say a text in a live call. It is paid by the character, as every answer. */
export const sayInCall = commandRoute({
  name: 'say',
  summary: 'Have the agent say a text in a live call',
  body: z.object({
    text: CallText(PHONE_LIMITS.commands.sayChars),
    /** Stops what is said now; otherwise the text follows it. */
    interrupt: z.boolean().default(false),
  }),
  commandOf: (body) => ({ kind: 'say', ...body }),
});
