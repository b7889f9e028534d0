import { gatewayErrors } from '../errors.ts';
import { RESPONSES_LIMITS } from './limits.ts';
import type { InputItem } from './responses-request.ts';

export type ItemPageQuery = {
  readonly limit?: number | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  /** Id of the item before the page. */
  readonly after?: string | undefined;
};

/** Page of items, in the form of OpenAI's lists. */
export type ItemPage = {
  readonly object: 'list';
  readonly data: readonly InputItem[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
};

/** Returns a page of items, the latest first by default. Throws the refusal when `after` names none of the items. */
export function pageOf(
  items: readonly InputItem[],
  { after, limit = RESPONSES_LIMITS.kept.usualItemsPerPage, order = 'desc' }: ItemPageQuery,
): ItemPage {
  const ordered = order === 'asc' ? items : items.toReversed();
  const at = after === undefined ? -1 : ordered.findIndex(({ id }) => id === after);
  if (after !== undefined && at === -1)
    throw gatewayErrors.invalidRequest(`There is no item ${JSON.stringify(after)}.`, 'after');
  const data = ordered.slice(at + 1, at + 1 + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: at + 1 + data.length < ordered.length,
  };
}
