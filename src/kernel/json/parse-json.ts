import { isAscii } from 'node:buffer';
import { isObject, type Json } from '../json.ts';
import { JSON_LIMITS } from './limits.ts';

/** Bounds of a JSON text, so that neither parsing it nor iterating over the result delays other work. */
export type JsonBounds = {
  /** Most levels of nested lists and objects. */
  readonly depth: number;
  /** Most elements, members, lists and objects in all. */
  readonly values: number;
  /** Members of objects, which cost ten times what an element of a list costs. */
  readonly members: number;
  /** Most bytes of the text, apart from its long strings in base64, which are images, sound and files. */
  readonly textBytes?: number;
};

/** Thrown for a JSON text beyond its bounds. */
export class JsonTooComplex extends Error {
  override readonly name: string = 'JsonTooComplex';
}

/** Thrown for a JSON text with more bytes than its bound, apart from images, sound and files. */
export class JsonTooLong extends JsonTooComplex {
  readonly limitBytes: number;

  constructor(limitBytes: number) {
    super(`has more than ${limitBytes} bytes beside images, sound and files`);
    this.limitBytes = limitBytes;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Characters after which a string within the JSON counts as long: the search for its end is then left to native code. */
const LONG_TEXT = 64;

/**
 * Parses JSON bytes of strangers, in UTF-8. One linear look, about a nanosecond a byte, finds text that is nested too deeply or
 * has too many parts before anything is built. Throws JsonTooComplex, or SyntaxError when the text is no JSON.
 */
export function parseBoundedJson(
  json: Uint8Array | string,
  bounds: JsonBounds = JSON_LIMITS.request,
): unknown {
  const { length } = json;
  if (length <= SHORT_JSON) {
    const text = typeof json === 'string' ? json : textOfJson(bytesOf(json));
    if (isSurelyWithin(text, bounds)) return JSON.parse(text);
  }
  const bytes = typeof json === 'string' ? Buffer.from(json) : bytesOf(json);
  checkJsonBounds(bytes, bounds);
  return JSON.parse(typeof json === 'string' ? json : textOfJson(bytes));
}

const bytesOf = (json: Uint8Array): Buffer =>
  Buffer.from(json.buffer, json.byteOffset, json.byteLength);

/** Length up to which bytes become a text before they are checked. Longer JSON is checked as bytes first. */
export const SHORT_JSON = 16 * 1024;
/** Most bytes of one character in UTF-8. */
const UTF8_BYTES = 4;

/**
 * Returns true when a short text is certainly within its bounds: its values, members and bytes are at most its characters, and
 * its levels at most its opening brackets. Native code counts brackets ten times as fast as the full check.
 */
function isSurelyWithin(text: string, bounds: JsonBounds): boolean {
  const { depth, members, textBytes = Infinity, values } = bounds;
  const { length } = text;
  if (length > Math.min(members, values) || length * UTF8_BYTES > textBytes) return false;
  let opened = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++opened > depth) return false;
    }
  }
  return true;
}

/** Returns the characters of JSON bytes. Nearly all JSON is ASCII, which is decoded several times as fast. */
export const textOfJson = (json: Buffer): string =>
  json.toString(isAscii(json) ? 'latin1' : 'utf8');

/** Returns true when parsing these bytes takes several turns of the event loop. */
export const isLongJson = ({ length }: Uint8Array): boolean => length > JSON_LIMITS.bytesPerTurn;

/** Parses like `parseBoundedJson`. Undefined when the text is no JSON or exceeds its bounds. */
export function tryParseJson(
  json: Uint8Array | string,
  bounds: JsonBounds = JSON_LIMITS.request,
): unknown {
  try {
    return parseBoundedJson(json, bounds);
  } catch {
    return undefined;
  }
}

/** Returns the object in a JSON text, or an empty object when the text is no JSON object. */
export function parseObject(json: Uint8Array | string): Json {
  const value = tryParseJson(json);
  return isObject(value) ? value : {};
}

/**
 * Counts the values and members of JSON bytes that are parsed in a later turn of the event loop. Throws JsonTooComplex when the
 * bytes exceed a bound. Leaves unbalanced brackets to the parser.
 */
export function checkJsonBounds(
  json: Buffer,
  bounds: JsonBounds = JSON_LIMITS.request,
): Pick<JsonBounds, 'values' | 'members'> {
  const { length } = json;
  // Read once: bounds have several hidden classes, and a look-up for each byte takes as long as four bytes do.
  const {
    depth: mostLevels,
    members: mostMembers,
    textBytes = length,
    values: mostValues,
  } = bounds;
  const texts = new TextEnds(json);
  let depth = 0;
  let values = 0;
  let members = 0;
  let mediaBytes = 0;
  for (let at = 0; at < length; at++) {
    switch (json[at]) {
      case QUOTE: {
        const end = texts.endOf(at + 1);
        if (end - at > MEDIA_BYTES && isMedia(json, at + 1)) mediaBytes += end - at;
        at = end;
        break;
      }
      case COMMA:
        values++;
        break;
      case COLON:
        members++;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        values++;
        if (++depth > mostLevels) throw new JsonTooComplex(tooDeep(bounds));
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth--;
        break;
    }
    if (values > mostValues || members > mostMembers) {
      throw new JsonTooComplex(tooMany(bounds));
    }
  }
  if (length - mediaBytes > textBytes) throw new JsonTooLong(textBytes);
  return { values, members };
}

/** Length of the shortest string that can count as base64. Shorter strings always count as text. */
const MEDIA_BYTES = 1_024;
/** Characters of base64 and of the head of a data URL. Words have spaces or other signs between them. */
const MEDIA = /^[\w+/=\-:;,.]*$/;

const isMedia = (json: Buffer, from: number): boolean =>
  MEDIA.test(json.toString('latin1', from, from + MEDIA_BYTES));

const tooDeep = ({ depth }: JsonBounds) => `is nested more than ${depth} levels deep`;
const tooMany = ({ values, members }: JsonBounds) =>
  `has more than ${values} values or ${members} members`;

/** Finds the ends of the strings in a JSON text. Calls must follow the order of the text. */
export class TextEnds {
  readonly #json: Buffer;
  /** Positions of the next quote and backslash that are known, so that no byte is searched twice. */
  #quote = -1;
  #backslash = -1;

  constructor(json: Buffer) {
    this.#json = json;
  }

  /** Returns the position of the closing quote of the text from `start` on, or the length of the JSON when it has none. */
  endOf(start: number): number {
    const json = this.#json;
    const { length } = json;
    let at = start;
    let looked = 0;
    while (at < length) {
      const byte = json[at];
      if (byte === QUOTE) return at;
      at += byte === BACKSLASH ? 2 : 1;
      if (++looked < LONG_TEXT) continue;
      looked = 0;
      if (this.#quote < at) this.#quote = this.#next(QUOTE, at);
      if (this.#backslash < at) this.#backslash = this.#next(BACKSLASH, at);
      if (this.#quote < this.#backslash) return this.#quote;
      // No quote and no escape stands before the next backslash.
      at = Math.min(this.#backslash, length);
    }
    return length;
  }

  #next(byte: number, at: number): number {
    const found = this.#json.indexOf(byte, at);
    return found === -1 ? this.#json.length : found;
  }
}
