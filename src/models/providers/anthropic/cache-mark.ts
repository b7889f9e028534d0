import { isObject, type Json } from '../../../kernel/json.ts';
import { unfit } from './unfit-request.ts';

export type CacheMark = { readonly cache_control?: Json };

/**
 * The caller's mark that the prompt up to here is worth keeping in the upstream's cache. What it may say, and how many
 * there may be, is for the upstream to judge.
 */
export function cacheMark({ cache_control: mark }: Json, place: string): CacheMark {
  if (mark === undefined || mark === null) return {};
  if (!isObject(mark)) return unfit(`${place}.cache_control must be an object.`);
  return { cache_control: mark };
}
