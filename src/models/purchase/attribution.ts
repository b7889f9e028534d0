import { BRAND } from '../../kernel/ids.ts';
import { normalTag } from '../../spend/attribution/tag.ts';

/** Task, action and customer that a call is for, as its headers say. */
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

/** Reads the attribution tags. An invalid tag counts as absent, because a bad tag must never stop a call. */
export function readAttribution(headers: ReadonlyMap<string, string>): Attribution {
  const tags: { -readonly [K in keyof Attribution]: Attribution[K] } = {};
  for (const [tag, header] of HEADERS) {
    const value = normalTag(headers.get(header) ?? '');
    if (value !== undefined) tags[tag] = value;
  }
  return tags;
}
