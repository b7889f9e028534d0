import type { AnswerNote } from '../chat-rail.ts';

/** Which model wrote a message, and why it ends, in the words of the Messages dialect. */
export const messageNote = (model: unknown, stopReason: unknown): AnswerNote => ({
  model: typeof model === 'string' ? model : undefined,
  finishReasons: typeof stopReason === 'string' ? [stopReason] : undefined,
});
