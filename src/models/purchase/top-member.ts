import { TextEnds } from '../../kernel/json/parse-json.ts';

const QUOTE = 0x22;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Returns start and end of the value of a member of the outermost JSON object, without parsing it, or undefined when no member
 * has that name. Skips text before the object, such as `data: `, and takes the first of two members with one name. `depth`:
 * number of objects that enclose the first byte, for bytes from the end of an object.
 */
export function topMember(
  json: Buffer,
  key: Buffer,
  depth = 0,
): readonly [start: number, end: number] | undefined {
  const texts = new TextEnds(json);
  let inside = depth;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (isOpen(byte)) inside++;
    else if (isClose(byte)) inside--;
    else if (byte === QUOTE) {
      const end = texts.endOf(at + 1);
      const isKey = inside === 1 && json.subarray(at + 1, end).equals(key);
      const value = isKey ? valueBehind(json, end + 1) : undefined;
      if (value !== undefined) return [value, endOfValue(json, value, texts)];
      at = end;
    }
  }
  return undefined;
}

// Brackets and braces differ in one bit.
const isOpen = (byte: number): boolean => (byte & 0xdf) === OPEN;
const isClose = (byte: number): boolean => (byte & 0xdf) === CLOSE;

function endOfValue(json: Buffer, from: number, texts: TextEnds): number {
  let inside = 0;
  for (let at = from; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte === QUOTE) {
      at = texts.endOf(at + 1);
      if (inside === 0) return at + 1;
    } else if (isOpen(byte)) inside++;
    else if (isClose(byte)) {
      if (inside === 0) return at;
      inside--;
      if (inside === 0) return at + 1;
    } else if (inside === 0 && (byte === COMMA || SPACE.has(byte))) return at;
  }
  return json.length;
}

/** Returns the start of the value behind a key, or undefined when the string that ended at `from` is no key. */
function valueBehind(json: Buffer, from: number): number | undefined {
  const colon = pastSpace(json, from);
  return json[colon] === COLON ? pastSpace(json, colon + 1) : undefined;
}

function pastSpace(json: Buffer, from: number): number {
  let at = from;
  while (SPACE.has(json[at] as number)) at++;
  return at;
}
