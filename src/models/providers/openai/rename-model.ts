import { TextEnds } from '../../../kernel/json/parse-json.ts';

const QUOTE = 0x22;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const COLON = 0x3a;
const KEY = Buffer.from('model');
const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Sets the member `model` of a JSON object to the name that the catalogue has for it: upstreams answer with names of
 * their own, and a client that stores the name must be able to request it again. All other bytes stay the same. Text
 * before the object, such as `data: `, is skipped; an object without the member, or with no string in it, is returned
 * unchanged. `depth` is how many objects enclose the first byte, where the bytes are the end of an object.
 */
export function renameModel(json: Buffer, name: string | undefined, depth = 0): Buffer {
  if (name === undefined) return json;
  const value = modelValue(json, depth);
  if (value === undefined) return json;
  const [start, end] = value;
  return Buffer.concat([
    json.subarray(0, start),
    Buffer.from(JSON.stringify(name)),
    json.subarray(end),
  ]);
}

/** Where the string of the outermost `model` begins and ends, with its quotes. */
function modelValue(json: Buffer, from: number): readonly [number, number] | undefined {
  const texts = new TextEnds(json);
  let depth = from;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    // Brackets and braces differ in one bit.
    if ((byte & 0xdf) === OPEN) depth++;
    else if ((byte & 0xdf) === CLOSE) depth--;
    else if (byte === QUOTE) {
      const end = texts.endOf(at + 1);
      const isKey = depth === 1 && json.subarray(at + 1, end).equals(KEY);
      const value = isKey ? valueBehind(json, end + 1) : undefined;
      if (value !== undefined)
        return json[value] === QUOTE ? [value, texts.endOf(value + 1) + 1] : undefined;
      at = end;
    }
  }
  return undefined;
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
