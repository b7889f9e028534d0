import type { z } from 'zod';
import type { EventProblem } from '../openai-realtime/client-event.ts';

/** Returns the first problem of an event, or of its member `within`. */
export function problemOf(
  error: z.ZodError,
  within: string | undefined,
  eventId: string | null,
): EventProblem {
  const issue = error.issues[0];
  const isUnknown = issue?.code === 'unrecognized_keys';
  const last = isUnknown ? issue.keys.slice(0, 1) : [];
  const path = [...(within === undefined ? [] : [within]), ...(issue?.path ?? []), ...last];
  const param = path.join('.').slice(0, 256);
  const why = isUnknown ? 'there is no such member' : (issue?.message ?? 'is invalid');
  return {
    code: isUnknown ? 'unknown_parameter' : 'invalid_value',
    message: `${param}: ${why}`,
    param,
    eventId,
  };
}
