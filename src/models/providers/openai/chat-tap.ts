import { JSON_LIMITS } from '../../../kernel/json/limits.ts';
import {
  checkJsonBounds,
  isLongJson,
  textOfJson,
  tryParseJson,
} from '../../../kernel/json/parse-json.ts';
import { parseJsonInTurns } from '../../../kernel/json/parse-json-in-turns.ts';
import { isObject } from '../../../kernel/json.ts';
import { turnForLongWork } from '../../../kernel/long-work.ts';
import type { AnswerNote, TokenUsage } from '../chat-rail.ts';
import { ANSWER_KEYS } from './answer-keys.ts';
import { dataOf } from './data-lines.ts';
import { readUsage } from './read-completion.ts';
import { readNote } from './read-note.ts';

/** Treatment of an event: relayed to the client, withheld from the client, or the end of the stream. */
export type Fate = 'relayed' | 'kept' | 'done';

const USAGE = Buffer.from('"usage"');
/** Key of the text in a part, for content that is a list of parts. */
const PART_TEXT = Buffer.from('"text"');
const KEYS = [...ANSWER_KEYS.map((key) => Buffer.from(`"${key}"`)), PART_TEXT];
/** Bytes of an event up to which it is held for the trace. The last events of an answer are shorter. */
const MOST_NOTED_BYTES = 16_384;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COLON = 0x3a;

/**
 * Reads passing events of a chat stream. Parses only the event with the usage, and counts the model's text for a stream that
 * breaks before its usage.
 */
export class ChatTap {
  readonly #wantsUsage: boolean;
  #usage: TokenUsage | null = null;
  #answerBytes = 0;
  /**
   * The latest short event, and in `#before` the short event before it: the end of the answer, and usage that may follow the
   * end.
   */
  #latest: Buffer | undefined;
  #before: Buffer | undefined;

  /** `wantsUsage`: the caller requested the event that carries only usage. */
  constructor(wantsUsage: boolean) {
    this.#wantsUsage = wantsUsage;
  }

  get usage(): TokenUsage | null {
    return this.#usage;
  }

  /**
   * Bytes of text, refusals, arguments and reasoning as they are written in JSON, including escapes. Arguments that are an
   * object count with all their bytes.
   */
  get answerBytes(): number {
    return this.#answerBytes;
  }

  /** Returns the notes of the answer for its trace. Reads only the last two events, so that streaming costs nothing. */
  note(): AnswerNote {
    const ends = [this.#before, this.#latest].flatMap((event) => event ?? []);
    return readNote(...ends.map(parseData).filter(isObject));
  }

  /** Reads an event and returns its treatment: at once for a short event, as a promise for a long event. */
  look(event: Buffer): Fate | Promise<Fate> {
    if (isLongJson(event)) return this.#lookInTurns(event);
    if (isTerminator(event)) return 'done';
    if (event.length <= MOST_NOTED_BYTES) {
      this.#before = this.#latest;
      this.#latest = event;
    }
    this.#answerBytes += textBytes(event);
    return carriesUsage(event) ? this.#readUsage(parseData(event)) : 'relayed';
  }

  async #lookInTurns(event: Buffer): Promise<Fate> {
    await turnForLongWork();
    this.#answerBytes += textBytes(event);
    await turnForLongWork();
    return carriesUsage(event) ? this.#readUsage(await readData(event)) : 'relayed';
  }

  /** Reads the usage of an event. An event with usage alone is withheld from a client that did not request it. */
  #readUsage(chunk: unknown): Fate {
    if (!isObject(chunk)) return 'relayed';
    this.#usage = readUsage(chunk.usage) ?? this.#usage;
    const isUsageAlone = Array.isArray(chunk.choices) && chunk.choices.length === 0;
    return isUsageAlone && !this.#wantsUsage ? 'kept' : 'relayed';
  }
}

/** Returns true when an event has a `usage` that is an object. Events before the last have `"usage":null`. */
export function carriesUsage(event: Buffer): boolean {
  for (let at = event.indexOf(USAGE); at !== -1; at = event.indexOf(USAGE, at + 1)) {
    if (event[valueAt(event, at + USAGE.length)] === OPEN_BRACE) return true;
  }
  return false;
}

/** Returns the index of a key's value, when the key ends at `from`. Returns the event's length when no colon follows. */
function valueAt(event: Buffer, from: number): number {
  const colon = afterSpace(event, from);
  return event[colon] === COLON ? afterSpace(event, colon + 1) : event.length;
}

function afterSpace(event: Buffer, from: number): number {
  let at = from;
  for (let byte = event[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; ) {
    byte = event[++at];
  }
  return at;
}

/**
 * Returns the bytes of all values under the keys: of strings, of objects, and of texts in lists of parts at any depth. Text
 * inside a counted value is not counted again.
 */
function textBytes(event: Buffer): number {
  const places = KEYS.map((key) => (key === PART_TEXT ? -1 : event.indexOf(key)));
  let listEnd: number | undefined;
  let bytes = 0;
  for (;;) {
    const which = earliest(places);
    const at = places[which];
    const key = KEYS[which];
    if (at === undefined || key === undefined) return bytes;
    const start = valueAt(event, at + key.length);
    const first = event[start];
    const isInList = listEnd !== undefined && at < listEnd;
    let end = at + 1;
    if ((first === QUOTE || first === OPEN_BRACE) && (isInList || key !== PART_TEXT)) {
      end = valueEnd(event, start);
      bytes += end - start - (first === QUOTE ? 2 : 0);
    } else if (first === OPEN_LIST && !isInList && key !== PART_TEXT) {
      // Most answers have no list of parts, so its texts are searched only when a list begins.
      if (listEnd === undefined) places[KEYS.length - 1] = event.indexOf(PART_TEXT, start);
      listEnd = valueEnd(event, start);
    }
    passOver(event, places, end);
  }
}

/** Returns the index of the smallest place that is not -1; -1 when all places are -1. */
function earliest(places: readonly number[]): number {
  let which = -1;
  for (let index = 0; index < places.length; index++) {
    const at = places[index] ?? -1;
    if (at !== -1 && (which === -1 || at < (places[which] ?? 0))) which = index;
  }
  return which;
}

/** Moves the place of each key before `end` to the key's next occurrence after `end`. */
function passOver(event: Buffer, places: number[], end: number): void {
  for (let index = 0; index < places.length; index++) {
    const at = places[index] ?? -1;
    const key = KEYS[index];
    if (at !== -1 && at < end && key !== undefined) places[index] = event.indexOf(key, end);
  }
}

/** Returns the index after the string, object or list that begins at `start`; `start` for any other value. */
function valueEnd(event: Buffer, start: number): number {
  const first = event[start];
  if (first === QUOTE) return stringEnd(event, start);
  if (first !== OPEN_BRACE && first !== OPEN_LIST) return start;
  let depth = 0;
  for (let at = start; at < event.length; at++) {
    const byte = event[at];
    if (byte === QUOTE) at = stringEnd(event, at) - 1;
    else if (byte === OPEN_BRACE || byte === OPEN_LIST) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_LIST) && --depth === 0) return at + 1;
  }
  return event.length;
}

/** Returns the index after the closing quote of a string; an index beyond the event when the string is not closed. */
function stringEnd(event: Buffer, start: number): number {
  let end = start + 1;
  while (end < event.length && event[end] !== QUOTE) end += event[end] === BACKSLASH ? 2 : 1;
  return Math.min(end, event.length) + 1;
}

const TERMINATOR = /^data: ?\[DONE\]\s*$/m;

export const isTerminator = (event: Buffer): boolean =>
  event.length < 64 && TERMINATOR.test(event.toString('latin1'));

/** Parses the JSON of an event's data lines. Undefined when the event has no data or invalid JSON. */
export function parseData(event: Buffer): unknown {
  const data = dataOf(event);
  return data === undefined ? undefined : tryParseJson(data, JSON_LIMITS.upstream);
}

/**
 * Parses the data of an event, and returns a promise only for a long event: callers await the result. Short events are parsed
 * at once, because a stream has one for each token.
 */
export const readData = (event: Buffer): unknown =>
  isLongJson(event) ? readLongData(event) : parseData(event);

/**
 * Parses a long event in several turns of the event loop, unless its parts are few: a long text alone takes about a
 * millisecond.
 */
async function readLongData(event: Buffer): Promise<unknown> {
  const data = dataOf(event);
  if (data === undefined) return undefined;
  try {
    const { members, values } = checkJsonBounds(data, JSON_LIMITS.upstream);
    const isQuick = members + values <= JSON_LIMITS.partsPerTurn;
    return isQuick
      ? JSON.parse(textOfJson(data))
      : await parseJsonInTurns(data, JSON_LIMITS.upstream);
  } catch {
    return undefined;
  }
}
