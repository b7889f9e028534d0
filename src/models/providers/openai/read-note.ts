import { isObject, type Json } from '../../../kernel/json.ts';
import type { AnswerNote } from '../chat-rail.ts';

/** Upper bound of the choices whose finish reasons are noted. */
const MOST_CHOICES = 16;

/** Reads the model and the finish reasons of a completion or of its chunks. Later chunks win. */
export function readNote(...parts: readonly Json[]): AnswerNote {
  let model: string | undefined;
  const reasons = new Map<unknown, string>();
  for (const part of parts) {
    if (typeof part.model === 'string') model = part.model;
    if (!Array.isArray(part.choices)) continue;
    for (const [at, choice] of part.choices.slice(0, MOST_CHOICES).entries()) {
      if (!isObject(choice) || typeof choice.finish_reason !== 'string') continue;
      reasons.set(choice.index ?? at, choice.finish_reason);
    }
  }
  return { model, finishReasons: reasons.size === 0 ? undefined : [...reasons.values()] };
}
