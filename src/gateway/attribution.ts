import { BRAND } from '../kernel/ids.ts';
import { LIMITS } from '../kernel/limits.ts';

/** What the caller says a call is for. */
export type Attribution = {
  readonly taskId?: string;
  readonly actionId?: string;
  readonly customerId?: string;
};

const HEADERS = [
  ['taskId', `${BRAND.headerPrefix}task-id`],
  ['actionId', `${BRAND.headerPrefix}action-id`],
  ['customerId', `${BRAND.headerPrefix}customer-id`],
] as const;

/** PostgreSQL takes no NUL; a query can spell one. */
const isTag = (value: string): boolean =>
  value !== '' && value.length <= LIMITS.taskIdChars && !value.includes('\0');

/** Reads the tags, trimmed and in lower case. One that is empty, too long or unstorable reads as absent. */
export function readAttribution(headers: ReadonlyMap<string, string>): Attribution {
  const tags: { -readonly [K in keyof Attribution]: Attribution[K] } = {};
  for (const [tag, header] of HEADERS) {
    const value = headers.get(header)?.trim().toLowerCase();
    if (value !== undefined && isTag(value)) tags[tag] = value;
  }
  return tags;
}
