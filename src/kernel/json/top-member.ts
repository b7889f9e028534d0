import { TextEnds } from './parse-json.ts';

const QUOTE = 0x22;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Where the value of a member of the outermost JSON object begins and ends, without parsing it. Undefined: it has no such
 * member. Text before the object, such as `data: `, is skipped. `depth` is how many objects enclose the first byte, where
 * the bytes are the end of an object. Of a name that comes twice it finds the first.
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

/** Where the value of a key begins. Undefined: the string that ended there is no key. */
function valueBehind(json: Buffer, from: number): number | undefined {
  const colon = pastSpace(json, from);
  return json[colon] === COLON ? pastSpace(json, colon + 1) : undefined;
}

function pastSpace(json: Buffer, from: number): number {
  let at = from;
  while (SPACE.has(json[at] as number)) at++;
  return at;
}
