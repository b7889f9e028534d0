import { parseJsonInTurns } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { type HeardWord, type VendorAnswer, VendorFailed } from './vendor-api.ts';

/** The object that an answer is. */
export async function objectOf({ body }: Pick<VendorAnswer, 'body'>): Promise<Json> {
  let value: unknown;
  try {
    value = await parseJsonInTurns(body, LIMITS.marketplace.answerJson);
  } catch (cause) {
    throw new VendorFailed('answered what is no JSON', { cause });
  }
  if (!isObject(value) || Array.isArray(value)) throw new VendorFailed('answered no object');
  return value;
}

/** The text of a transcript. */
export function requireText(text: unknown): string {
  if (typeof text !== 'string') throw new VendorFailed('answered without a transcript');
  return text;
}

/** A text that may be missing. */
export const textOrNone = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** The words of a list whose times are in so many milliseconds. What has none is left out. */
export function wordsOf(list: unknown, name: 'word' | 'text', unitMs: number): HeardWord[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown) => {
    const word = isObject(item) ? timedWord(item, item[name], unitMs) : undefined;
    return word === undefined ? [] : [{ ...word, word: word.word.trim(), gap: ' ' }];
  });
}

/** A word, where its times are told. */
export function timedWord({ start, end }: Json, word: unknown, unitMs: number) {
  if (typeof word !== 'string' || !isTime(start) || !isTime(end)) return undefined;
  return { word, startMs: start * unitMs, endMs: Math.max(start, end) * unitMs };
}

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;
