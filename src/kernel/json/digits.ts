/**
 * Numbers of JSON whose text JavaScript would not write again: beyond 2^53, `1.0`, `1e5`, `-0`. Their values are numbers
 * like any other. The text is kept beside the object or list that has them, and `writeDigits` writes it again.
 */
type Digits = Map<string, string>;

const kept = new WeakMap<object, Digits>();
/** Objects and lists with kept digits that are still alive. While there are none, writing costs nothing more. */
let alive = 0;
const forgotten = new FinalizationRegistry<void>(() => {
  alive--;
});

/** Digits of a number that may be spelled oddly. V8 looks for sixteen digits in 40 % of the time where they are written out. */
const CANDIDATE = /\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d|\d[.eE][-+\d]/g;
const NEGATIVE_ZERO = /[:,[]\s*-0(?![.\d])/;
/** The signs before a value, with blanks between. */
const BEFORE_VALUE = /[:,[]/;
const BLANK = /\s/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const isOdd = (token: string): boolean => String(Number(token)) !== token;

function numberAt(text: string, at: number): string {
  NUMBER.lastIndex = at;
  return NUMBER.exec(text)?.[0] ?? '';
}

/**
 * Searches `text` from position `from` on for a number that JavaScript would spell otherwise, among at most `most` candidates.
 * Returns `odd` when it finds one, `none` at the end of the text, and otherwise the position at which to continue.
 */
export function findOdd(text: string, from = 0, most = Number.POSITIVE_INFINITY) {
  if (from === 0 && text.includes('-0') && NEGATIVE_ZERO.test(text)) return ODD;
  let at = from;
  for (let looked = 0; looked < most; looked++) {
    CANDIDATE.lastIndex = at;
    const found = CANDIDATE.exec(text);
    if (found === null) return NONE;
    const start = startOfNumber(text, found.index, at);
    const token = numberAt(text, start);
    if (isOdd(token) && isValue(text, start)) return ODD;
    at = start + token.length;
  }
  return { kind: 'more', from: at } as const;
}

const ODD = { kind: 'odd' } as const;
const NONE = { kind: 'none' } as const;

/** Finds the sign or the first digit of the number around a place, not before `least`. */
function startOfNumber(text: string, at: number, least: number): number {
  let start = at;
  while (start > least && isDigit(text.charCodeAt(start - 1))) start--;
  return start > least && text.charCodeAt(start - 1) === MINUS ? start - 1 : start;
}

const isDigit = (sign: number): boolean => sign >= ZERO && sign <= NINE;

/** Returns true if no more than blanks are between the place and the sign that stands before a value. */
function isValue(text: string, start: number): boolean {
  let before = start - 1;
  while (BLANK.test(text.charAt(before))) before--;
  return BEFORE_VALUE.test(text.charAt(before));
}

/** Parses a short text as `JSON.parse` does, and keeps its digits. */
export function parseDigits(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (findOdd(text).kind === 'odd') new DigitReader(text, value).read(text.length);
  return value;
}

type Level = { container: unknown; readonly isList: boolean; key: string; takesKey: boolean };

/** Reads the text of a parsed value and keeps the digits of each number that JavaScript would spell otherwise. */
export class DigitReader {
  readonly #text: string;
  readonly #value: unknown;
  readonly #levels: Level[] = [];
  #at = 0;

  constructor(text: string, value: unknown) {
    this.#text = text;
    this.#value = value;
  }

  /** Reads on to the position `until`. Returns false while text is left. */
  read(until: number): boolean {
    const end = Math.min(until, this.#text.length);
    while (this.#at < end) this.#step(this.#text.charCodeAt(this.#at));
    return this.#at >= this.#text.length;
  }

  #step(sign: number): void {
    const level = this.#levels.at(-1);
    if (sign === QUOTE) this.#string(level);
    else if (sign === OPEN_OBJECT || sign === OPEN_LIST) this.#open(sign === OPEN_LIST);
    else if (sign === MINUS || isDigit(sign)) this.#number(level);
    else {
      if (sign === CLOSE_OBJECT || sign === CLOSE_LIST) this.#levels.pop();
      else if (sign === COMMA && level?.isList) level.key = String(Number(level.key) + 1);
      else if (sign === COMMA && level !== undefined) level.takesKey = true;
      this.#at++;
    }
  }

  #string(level: Level | undefined): void {
    const from = this.#at;
    let end = this.#text.indexOf('"', from + 1);
    while (end !== -1 && this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1);
    this.#at = end === -1 ? this.#text.length : end + 1;
    if (level?.takesKey !== true) return;
    level.key = JSON.parse(this.#text.slice(from, this.#at)) as string;
    level.takesKey = false;
  }

  #isEscaped(at: number): boolean {
    let before = at - 1;
    while (this.#text.charCodeAt(before) === BACKSLASH) before--;
    return (at - before) % 2 === 0;
  }

  #open(isList: boolean): void {
    const level = this.#levels.at(-1);
    const container = level === undefined ? this.#value : memberOf(level.container, level.key);
    // A name may come twice: JSON.parse keeps the last value, which may be of another kind.
    const isKnown = isContainer(container) && Array.isArray(container) === isList;
    const key = isList ? '0' : '';
    this.#levels.push({
      container: isKnown ? container : undefined,
      isList,
      key,
      takesKey: !isList,
    });
    this.#at++;
  }

  #number(level: Level | undefined): void {
    const token = numberAt(this.#text, this.#at);
    this.#at += Math.max(1, token.length);
    if (isContainer(level?.container) && isOdd(token)) keep(level.container, level.key, token);
  }
}

const isContainer = (value: unknown): value is object =>
  typeof value === 'object' && value !== null;

const memberOf = (container: unknown, key: string): unknown =>
  isContainer(container) && Object.hasOwn(container, key)
    ? (container as Record<string, unknown>)[key]
    : undefined;

function keep(container: object, key: string, token: string): void {
  if (!Object.is(memberOf(container, key), Number(token))) return;
  let digits = kept.get(container);
  if (digits === undefined) {
    digits = new Map();
    kept.set(container, digits);
    forgotten.register(container, undefined);
    alive++;
  }
  digits.set(key, token);
}

/** Returns the digits of a member as the JSON text spelled them. Undefined when JavaScript would write the same digits. */
export function digitsOf(container: object, key: string): string | undefined {
  if (alive === 0) return undefined;
  const token = kept.get(container)?.get(key);
  return token !== undefined && Object.is(memberOf(container, key), Number(token))
    ? token
    : undefined;
}

/** Keeps the digits of `from` for `copy` too, in all objects and lists that both have, and returns `copy`. */
export function copyDigits<T>(from: unknown, copy: T): T {
  if (alive > 0) copyDown(from, copy);
  return copy;
}

function copyDown(from: unknown, copy: unknown): void {
  if (from === copy || !isContainer(from) || !isContainer(copy)) return;
  for (const [key, token] of kept.get(from) ?? []) keep(copy, key, token);
  for (const key of Object.keys(copy)) copyDown(memberOf(from, key), memberOf(copy, key));
}

function hasDigits(value: unknown): boolean {
  if (!isContainer(value)) return false;
  return kept.has(value) || Object.values(value).some(hasDigits);
}

const FILLER = '\ufdd0';

/** Writes plain data as `JSON.stringify` does, with the digits as they came. */
export function writeDigits(value: unknown): string {
  const text = JSON.stringify(value);
  if (alive === 0 || !hasDigits(value)) return text;
  const longest = (text.match(/\ufdd0+/g) ?? []).reduce(
    (most, { length }) => Math.max(most, length),
    0,
  );
  const mark = FILLER.repeat(longest + 1);
  const marked = JSON.stringify(value, function (this: object, key, item: unknown) {
    const digits = typeof item === 'number' ? digitsOf(this, key) : undefined;
    return digits === undefined ? item : mark + digits;
  });
  return marked.replace(new RegExp(`"${mark}([-+.eE\\d]+)"`, 'g'), '$1');
}
