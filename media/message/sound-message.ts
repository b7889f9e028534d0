/**
 * Reads the JSON messages that bring sound fifty times a second, from their bytes: without text and without objects.
 *
 * One memory serves all messages. It holds the one that was scanned last.
 */
import {
  bytes,
  DECODED,
  fours,
  MESSAGE,
  MOST_BYTES,
  memory,
  OPEN,
  ROW,
  rows,
  scan,
  sixBits,
  WORDS,
  type Word,
} from './scan-kernel.ts';

const text = Buffer.from(memory.buffer);

const codes = Object.fromEntries(WORDS.map((word, i) => [word, i + 1]));

/** What `nameOf` and `wordOf` answer for each word. */
export const WORD = codes as Readonly<Record<Word, number>>;

/**
 * Reads a message that is an object of texts, and of objects of texts: plain ASCII without escapes. Answers how many
 * members it has, those of its inner objects behind theirs; -1: it is of another shape, or too long.
 */
export function scanMessage(message: Uint8Array): number {
  if (message.length > MOST_BYTES) return -1;
  bytes.set(message, MESSAGE);
  bytes[MESSAGE + message.length] = 0;
  return scan(MESSAGE + message.length);
}

/** The word that a member's name is; 0: another. */
export const nameOf = (member: number): number => rows[member * ROW] as number;

/** Whether it is a member of an inner object. */
export const isInner = (member: number): boolean => rows[member * ROW + 1] === 1;

/** Whether its value is an object. */
export const isObjectAt = (member: number): boolean =>
  bytes[rows[member * ROW + 2] as number] === OPEN;

/** The word that its value is; 0: another, or no text. */
export const wordOf = (member: number): number => rows[member * ROW + 4] as number;

/** How many characters its text has. */
export const lengthOf = (member: number): number =>
  (rows[member * ROW + 3] as number) - (rows[member * ROW + 2] as number) - 1;

/** Whether its text is this one. */
export function isText(member: number, wanted: Uint8Array): boolean {
  if (lengthOf(member) !== wanted.length) return false;
  const from = (rows[member * ROW + 2] as number) + 1;
  for (let i = 0; i < wanted.length; i++) if (bytes[from + i] !== wanted[i]) return false;
  return true;
}

/** More digits could leave the whole numbers of a double, and no stream is so long. */
const MOST_DIGITS = 15;
const ZERO = 0x30;

/** The whole number that its text is, or -1. */
export function numberOf(member: number): number {
  const digits = lengthOf(member);
  if (digits <= 0 || digits > MOST_DIGITS) return -1;
  const from = (rows[member * ROW + 2] as number) + 1;
  let value = 0;
  for (let i = 0; i < digits; i++) {
    const digit = (bytes[from + i] as number) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** The front of what was decoded, as it was last given out: the sounds of a stream have one length. */
let decoded: Uint8Array = bytes.subarray(DECODED, DECODED);

/** The bytes of its base64 text, good until the next message; undefined where it is none. Padding is whole, or absent. */
export function base64Of(member: number): Uint8Array | undefined {
  return decode(rows[member * ROW + 2] as number, rows[member * ROW + 3] as number);
}

/** The same of a text that is no message. */
export function decodeBase64(base64: string): Uint8Array | undefined {
  if (base64.length > MOST_BYTES) return undefined;
  const end = MESSAGE + 1 + text.write(base64, MESSAGE + 1, 'latin1');
  bytes[end] = 0;
  return decode(MESSAGE, end);
}

const PAD = 0x3d;

function decode(quote: number, end: number): Uint8Array | undefined {
  let at = fours(quote + 1);
  let to = DECODED + ((at - quote - 1) / 4) * 3;
  let rest = 0;
  let bits = 0;
  for (; at < end && rest < 4; at++, rest++) {
    const six = sixBits[bytes[at] as number] as number;
    if (six < 0) break;
    bits = (bits << 6) | six;
  }
  if (rest === 1) return undefined;
  if (rest === 2) bytes[to++] = bits >> 4;
  if (rest === 3) {
    bytes[to++] = bits >> 10;
    bytes[to++] = bits >> 2;
  }
  if (rest !== 0 && bytes[at] === PAD) {
    for (let pads = rest; pads < 4; pads++, at++) if (bytes[at] !== PAD) return undefined;
  }
  if (at !== end) return undefined;
  if (to - DECODED !== decoded.length) decoded = bytes.subarray(DECODED, to);
  return decoded;
}
