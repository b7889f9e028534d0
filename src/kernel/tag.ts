import { LIMITS } from './limits.ts';

/**
 * A task, action or customer id as it is kept and compared: trimmed, in lower case. Undefined for one that is
 * empty, too long or not printable ASCII: a header cannot say in which encoding it was written, so that other
 * spellings of an id would never meet again.
 */
export function normalTag(text: string): string | undefined {
  const tag = text.trim().toLowerCase();
  return tag.length <= LIMITS.taskIdChars && /^[\x20-\x7e]+$/.test(tag) ? tag : undefined;
}
