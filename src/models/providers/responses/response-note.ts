import { isObject, type Json } from '../../../kernel/json.ts';
import type { AnswerNote } from '../chat-rail.ts';

/** Returns the model of a response, and how it ended: `completed`, or the reason why it is incomplete. */
export function responseNote({ incomplete_details: details, model, status }: Json): AnswerNote {
  const why = isObject(details) && typeof details.reason === 'string' ? details.reason : status;
  return {
    model: typeof model === 'string' ? model : undefined,
    finishReasons: typeof why === 'string' ? [why] : undefined,
  };
}
