import { createHash } from 'node:crypto';

/** Characters that OpenAI allows at most for the name of a function in chat. */
const NAME_CHARS = 64;
const HASH_CHARS = 8;

/** Returns the name of a function in chat. A name over 64 characters is cut and ends with a hash of the whole. */
export function shortName(name: string): string {
  if (name.length <= NAME_CHARS) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARS);
  return `${name.slice(0, NAME_CHARS - HASH_CHARS - 1)}_${hash}`;
}
