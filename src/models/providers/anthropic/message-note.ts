import type { AnswerNote } from '../chat-rail.ts';

/** Builds the note of an answer: the model that wrote the message, and the stop reason in the words of the Messages dialect. */
export const messageNote = (model: unknown, stopReason: unknown): AnswerNote => ({
  model: typeof model === 'string' ? model : undefined,
  finishReasons: typeof stopReason === 'string' ? [stopReason] : undefined,
});
