import { turnForLongWork } from '../long-work.ts';
import { DigitReader, findOdd } from './digits.ts';
import { JSON_LIMITS } from './limits.ts';
import {
  checkJsonBounds,
  isLongJson,
  type JsonBounds,
  parseBoundedJson,
  SHORT_JSON,
  TextEnds,
  textOfJson,
} from './parse-json.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Parses like `parseBoundedJson`, but a long text in several turns of the event loop: a value with more parts than one turn
 * builds is built from pieces. Keeps digits for `writeDigits`. Throws JsonTooComplex, or SyntaxError when the text is no JSON.
 */
export async function parseJsonInTurns(
  json: Buffer,
  bounds: JsonBounds = JSON_LIMITS.request,
): Promise<unknown> {
  if (isLongJson(json)) return parseLong(json, bounds);
  const text = textOfJson(json);
  const value = parseBoundedJson(json.length <= SHORT_JSON ? text : json, bounds);
  if (findOdd(text).kind === 'odd') new DigitReader(text, value).read(text.length);
  return value;
}

async function parseLong(json: Buffer, bounds: JsonBounds): Promise<unknown> {
  await turnForLongWork();
  const { members, values } = checkJsonBounds(json, bounds);
  if (members + values > JSON_LIMITS.partsPerTurn) {
    const built = await build(json, bounds.depth);
    await turnForLongWork();
    return keepDigits(textOfJson(json), built);
  }
  await turnForLongWork();
  const text = textOfJson(json);
  await turnForLongWork();
  const value: unknown = JSON.parse(text);
  return keepDigits(text, value);
}

async function keepDigits(text: string, value: unknown): Promise<unknown> {
  await turnForLongWork();
  let found = findOdd(text, 0, JSON_LIMITS.partsPerTurn);
  while (found.kind === 'more') {
    await turnForLongWork();
    found = findOdd(text, found.from, JSON_LIMITS.partsPerTurn);
  }
  if (found.kind === 'none') return value;
  const digits = new DigitReader(text, value);
  for (
    let until = JSON_LIMITS.bytesPerTurn;
    !digits.read(until);
    until += JSON_LIMITS.bytesPerTurn
  ) {
    await turnForLongWork();
  }
  return value;
}

async function build(json: Buffer, depth: number): Promise<unknown> {
  await turnForLongWork();
  if (!isLongJson(json)) return parsed(json);
  const from = firstSign(json);
  const open = json[from];
  if ((open !== OPEN_LIST && open !== OPEN_OBJECT) || depth === 0) return parsed(json);
  const items = itemsOf(json, from);
  if (items === undefined) throw new SyntaxError('no JSON');
  return open === OPEN_LIST ? listOf(json, items, depth) : objectOf(json, items, depth);
}

const parsed = (json: Buffer): unknown => JSON.parse(textOfJson(json));

async function listOf(json: Buffer, items: readonly number[], depth: number): Promise<unknown[]> {
  const list: unknown[] = [];
  for (const { from, to, isLong } of piecesOf(items)) {
    const piece = json.subarray(from, to);
    if (isLong) list.push(await build(piece, depth - 1));
    else for (const item of await small<unknown[]>('[', piece, ']')) list.push(item);
  }
  return list;
}

async function objectOf(json: Buffer, items: readonly number[], depth: number): Promise<unknown> {
  const object: Record<string, unknown> = {};
  for (const { from, to, isLong } of piecesOf(items)) {
    const piece = json.subarray(from, to);
    if (!isLong) {
      for (const [name, value] of Object.entries(await small<object>('{', piece, '}'))) {
        setMember(object, name, value);
      }
      continue;
    }
    const start = firstSign(piece);
    const end = piece[start] === QUOTE ? new TextEnds(piece).endOf(start + 1) + 1 : 0;
    const colon = piece.indexOf(':', end);
    // The bytes before the colon are a name and blanks. JSON.parse throws for an invalid name.
    const [name] = Object.keys(await small<object>('{', piece.subarray(0, colon), ':0}'));
    if (colon < end || name === undefined) throw new SyntaxError('no JSON');
    setMember(object, name, await build(piece.subarray(colon + 1), depth - 1));
  }
  return object;
}

/** Sets a member of an object; `__proto__` becomes a member like any other. */
function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else {
    Object.defineProperty(object, name, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
}

/** Parses a short piece in a turn of its own. */
async function small<T>(before: string, piece: Buffer, after: string): Promise<T> {
  await turnForLongWork();
  return JSON.parse(before + textOfJson(piece) + after);
}

type Piece = { readonly from: number; readonly to: number; readonly isLong: boolean };

/** Yields the items without the commas around them: a long item alone, short neighbours together. */
function* piecesOf(cuts: readonly number[]): Generator<Piece> {
  const most = JSON_LIMITS.bytesPerTurn;
  let begun: number | undefined;
  for (let at = 0; at + 1 < cuts.length; at++) {
    const from = (cuts[at] as number) + 1;
    const to = cuts[at + 1] as number;
    const isLong = to - from > most;
    if (begun !== undefined && (isLong || to - begun > most)) {
      yield { from: begun, to: from - 1, isLong: false };
      begun = undefined;
    }
    if (isLong) yield { from, to, isLong };
    else begun ??= from;
  }
  const end = cuts.at(-1) as number;
  if (begun !== undefined) yield { from: begun, to: end, isLong: false };
}

/**
 * Returns the positions of the opening bracket, of each comma between the items, and of the closing bracket; of the opening
 * bracket alone for an empty list or object. Undefined: an item or the closing bracket is missing, or bytes follow it.
 */
function itemsOf(json: Buffer, open: number): readonly number[] | undefined {
  const texts = new TextEnds(json);
  const cuts = [open];
  let depth = 0;
  for (let at = open; at < json.length; at++) {
    switch (json[at]) {
      case QUOTE:
        at = texts.endOf(at + 1);
        break;
      case COMMA:
        if (depth !== 1) break;
        if (firstSign(json, (cuts.at(-1) as number) + 1) === at) return undefined;
        cuts.push(at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth++;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        if (--depth > 0) break;
        if (!isClosed(json, open, at)) return undefined;
        if (firstSign(json, (cuts.at(-1) as number) + 1) < at) cuts.push(at);
        else if (cuts.length > 1) return undefined;
        return cuts;
    }
  }
  return undefined;
}

/** Returns true when both brackets are of one kind and only blanks follow the closing bracket. */
const isClosed = (json: Buffer, open: number, close: number): boolean =>
  (json[open] === OPEN_LIST) === (json[close] === CLOSE_LIST) &&
  firstSign(json, close + 1) === json.length;

const BLANKS = new Set([0x20, 0x0a, 0x0d, 0x09]);

function firstSign(json: Buffer, from = 0): number {
  let at = from;
  while (at < json.length && BLANKS.has(json[at] as number)) at++;
  return at;
}
