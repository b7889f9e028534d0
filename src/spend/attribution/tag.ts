import { SPEND_LIMITS } from '../limits.ts';

/**
 * Returns a task, action or customer id as it is kept and compared: trimmed, in lower case. Undefined when the id is empty, too
 * long or not printable ASCII: a header does not state its encoding, so other spellings of an id would never match.
 */
export function normalTag(text: string): string | undefined {
  const tag = text.trim().toLowerCase();
  return tag.length <= SPEND_LIMITS.tag.idChars && /^[\x20-\x7e]+$/.test(tag) ? tag : undefined;
}
