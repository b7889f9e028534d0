import type { AnswerNote } from '../chat-rail.ts';

/** Builds the note of an answer: the model that wrote the message, and the stop reason as the Messages dialect names it. */
export const messageNote = (model: unknown, stopReason: unknown): AnswerNote => ({
  model: typeof model === 'string' ? model : undefined,
  finishReasons: typeof stopReason === 'string' ? [stopReason] : undefined,
});
