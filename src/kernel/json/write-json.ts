import type { Json } from '../json.ts';
import { joinPieces, turnForLongWork } from '../long-work.ts';
import { digitsOf, writeDigits } from './digits.ts';

/** Number of values that are written in one turn of the event loop, in some milliseconds. */
const VALUES_PER_TURN = 4_000;
/** Characters of a text that count as one value. A longer text counts as several values. */
const CHARS_PER_VALUE = 1_024;

/**
 * Writes plain data as `JSON.stringify` does, in pieces. Data with many parts is written over several turns of the event loop.
 */
export async function writeJsonInTurns(value: unknown): Promise<readonly Buffer[]> {
  // Nearly all values are short: a promise for each of their parts would cost more than writing the value.
  if (isShort(value)) return [Buffer.from(writeDigits(value))];
  const out = new Pieces();
  await write(out, value);
  return out.end();
}

/**
 * Writes the text of `writeJsonInTurns` into one buffer, at once when the data is short. `more`: JSON of further members,
 * without braces, appended to an object that has at least one member.
 */
export function writeWhole(value: unknown): Buffer | Promise<Buffer>;
export function writeWhole(object: Json, more: string): Buffer | Promise<Buffer>;
export function writeWhole(value: unknown, more = ''): Buffer | Promise<Buffer> {
  if (!isShort(value)) return writeLong(value, more);
  const text = writeDigits(value);
  return more === '' ? Buffer.from(text) : bytesOf(text, more);
}

async function writeLong(value: unknown, more: string): Promise<Buffer> {
  const out = new Pieces();
  if (more === '') await write(out, value);
  else await writeObject(out, value as Json, `,${more}}`);
  return joinPieces(out.end());
}

/**
 * Returns the JSON of an object that has at least one member, with the JSON of further members (`more`, without braces)
 * appended.
 */
export const withMembers = (object: string, more: string): string =>
  more === '' ? object : `${object.slice(0, -1)},${more}}`;

/**
 * Returns the bytes of `withMembers`. Writes the two texts into one buffer: joining the texts first would copy them once more.
 */
function bytesOf(object: string, more: string): Buffer {
  const own = Buffer.byteLength(object);
  const end = own + Buffer.byteLength(more);
  const bytes = Buffer.allocUnsafe(end + 1);
  bytes.write(object);
  bytes[own - 1] = COMMA;
  bytes.write(more, own);
  bytes[end] = CLOSE_OBJECT;
  return bytes;
}

const COMMA = 0x2c;
const CLOSE_OBJECT = 0x7d;

const isShort = (value: unknown): boolean => valuesLeft(value, VALUES_PER_TURN) >= 0;

class Pieces {
  readonly #pieces: Buffer[] = [];
  #text = '';
  #values = 0;

  async add(text: string, values = 0): Promise<void> {
    this.#text += text;
    this.#values += values;
    if (this.#values < VALUES_PER_TURN) return;
    this.end();
    await turnForLongWork();
  }

  end(): readonly Buffer[] {
    this.#pieces.push(Buffer.from(this.#text));
    this.#text = '';
    this.#values = 0;
    return this.#pieces;
  }
}

async function write(out: Pieces, value: unknown): Promise<void> {
  const left = valuesLeft(value, VALUES_PER_TURN);
  if (left >= 0 || typeof value !== 'object' || value === null) {
    return out.add(writeDigits(value), VALUES_PER_TURN - left);
  }
  // Counting the parts of an object with very many members takes as long as writing some thousand members.
  await turnForLongWork();
  await (Array.isArray(value) ? writeList(out, value) : writeObject(out, value as Json));
}

async function writeList(out: Pieces, list: readonly unknown[]): Promise<void> {
  let sign = '[';
  for (const [at, item] of list.entries()) {
    await out.add(sign);
    // As `JSON.stringify` does with undefined.
    await writeMember(out, list, String(at), item ?? null);
    sign = ',';
  }
  await out.add(']');
}

async function writeObject(out: Pieces, object: Json, end = '}'): Promise<void> {
  let sign = '{';
  for (const name of Object.keys(object)) {
    // `JSON.stringify` leaves out members that are undefined, too.
    if (object[name] === undefined) continue;
    await out.add(`${sign}${JSON.stringify(name)}:`);
    await writeMember(out, object, name, object[name]);
    sign = ',';
  }
  await out.add(sign === '{' ? `{${end}` : end);
}

function writeMember(out: Pieces, of: object, name: string, value: unknown): Promise<void> {
  const digits = typeof value === 'number' ? digitsOf(of, name) : undefined;
  return digits === undefined ? write(out, value) : out.add(digits, 1);
}

/** Returns `most` minus the number of values in `value`; negative when `value` has more. */
function valuesLeft(value: unknown, most: number): number {
  if (typeof value === 'string') return most - 1 - Math.floor(value.length / CHARS_PER_VALUE);
  let left = most - 1;
  if (typeof value !== 'object' || value === null) return left;
  if (Array.isArray(value)) {
    // Iterated by index: `for … in` would name all items of a long list before the first item is counted.
    for (let at = 0; at < value.length && left >= 0; at++) left = valuesLeft(value[at], left);
    return left;
  }
  for (const name in value) {
    if (left < 0) return left;
    left = valuesLeft((value as Json)[name], left);
  }
  return left;
}
