import { JsonTooComplex } from '../../../kernel/json/parse-json.ts';
import { parseJsonInTurns } from '../../../kernel/json/parse-json-in-turns.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { turnForLongWork } from '../../../kernel/long-work.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import {
  type HeardWord,
  VendorFailed,
  type VendorResponse,
  VendorSaidTooMuch,
} from './vendor-api.ts';

/**
 * Parses the body of an answer as an object. Throws VendorFailed when it is no object, and VendorSaidTooMuch when it exceeds
 * the bounds.
 */
export async function objectOf({ body }: Pick<VendorResponse, 'body'>): Promise<Json> {
  let value: unknown;
  try {
    value = await parseJsonInTurns(body, MODEL_LIMITS.vendor.answerJson);
  } catch (cause) {
    if (cause instanceof JsonTooComplex) {
      throw new VendorSaidTooMuch('answers too much', { cause });
    }
    throw new VendorFailed('answered what is no JSON', { cause });
  }
  if (!isObject(value) || Array.isArray(value)) throw new VendorFailed('answered no object');
  return value;
}

/** Returns the text of a transcript. Throws VendorFailed when it is missing. */
export function requireText(text: unknown): string {
  if (typeof text !== 'string') throw new VendorFailed('answered without a transcript');
  return text;
}

/** Returns the value if it is text, else undefined. */
export const textOrNone = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** Words that are read in one turn of the event loop, which takes some milliseconds. */
const WORDS_PER_TURN = 5_000;

/**
 * Returns the words of a list, read by `read`. Items without a word are left out. A long list is read in several turns of the
 * event loop.
 */
export async function wordsOf(
  list: unknown,
  read: (item: Json) => HeardWord | undefined,
): Promise<HeardWord[]> {
  const words: HeardWord[] = [];
  if (!Array.isArray(list)) return words;
  for (const [index, item] of list.entries()) {
    if (index % WORDS_PER_TURN === 0 && index > 0) await turnForLongWork();
    const word = isObject(item) ? read(item) : undefined;
    if (word !== undefined) words.push(word);
  }
  return words;
}

/**
 * Reads a list of words with a blank between them: the text is the member `name`, the times are in units of `unitMs`
 * milliseconds.
 */
export const spacedWords = (list: unknown, name: 'word' | 'text', unitMs: number) =>
  wordsOf(list, (item) => timedWord(item, textOrNone(item[name])?.trim(), unitMs, ' '));

/** Returns a word with its times. Undefined when the vendor reported no times. */
export function timedWord(
  { start, end }: Json,
  word: unknown,
  unitMs: number,
  gap: string,
): HeardWord | undefined {
  if (typeof word !== 'string' || !isTime(start) || !isTime(end)) return undefined;
  return { word, startMs: start * unitMs, endMs: Math.max(start, end) * unitMs, gap };
}

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;
