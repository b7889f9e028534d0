import { isObject, type Json } from '../../../kernel/json.ts';
import { unfit } from './unfit-request.ts';

export type CacheMark = { readonly cache_control?: Json };

/**
 * Reads the caller's cache mark of a block: the prompt up to the block is worth caching. The upstream checks the mark's members
 * and the number of marks. Throws UnfitRequest when the mark is no object.
 */
export function cacheMark({ cache_control: mark }: Json, place: string): CacheMark {
  if (mark === undefined || mark === null) return {};
  if (!isObject(mark)) return unfit(`${place}.cache_control must be an object.`);
  return { cache_control: mark };
}
