import type { JsonBounds } from '../../kernel/json/parse-json.ts';
import type { Json } from '../../kernel/json.ts';

/**
 * Returns true when plain data has more parts than `bounds` allow, by the same count as for a JSON text. Stops at the first
 * part beyond the bounds, so its time does not grow with the data.
 */
export function hasMoreParts(
  data: unknown,
  { members, values }: Pick<JsonBounds, 'members' | 'values'>,
): boolean {
  const left = { members, values };
  take(data, left);
  return left.members < 0 || left.values < 0;
}

type Left = { members: number; values: number };

/** Subtracts the parts of a value from `left`: a list or object counts as itself plus the commas between its elements. */
function take(value: unknown, left: Left): void {
  if (typeof value !== 'object' || value === null) return;
  let commas = -1;
  left.values--;
  if (Array.isArray(value)) {
    for (const element of value) {
      if (++commas > 0) left.values--;
      if (left.values < 0) return;
      take(element, left);
    }
    return;
  }
  for (const name in value) {
    if (++commas > 0) left.values--;
    left.members--;
    if (left.members < 0 || left.values < 0) return;
    take((value as Json)[name], left);
  }
}
