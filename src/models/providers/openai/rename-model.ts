import { TextEnds } from '../../../kernel/parse-json.ts';

const QUOTE = 0x22;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const COLON = 0x3a;
const KEY = Buffer.from('model');
const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Gives the member `model` of a JSON object the name that the catalogue has for it: upstreams answer with names of their
 * own, and a client that stores what it is told must find that model again. The bytes around it stay as they came. Text
 * before the object, such as `data: `, is passed over; what has no such member, or no text under it, comes back as it is.
 * `depth` is how deep the bytes begin, for the end of an object that was cut.
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

/** Where the text under the outermost `model` begins and ends, its quotes with it. */
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

/** Where the value of a key begins. Undefined: what ended there is no key. */
function valueBehind(json: Buffer, from: number): number | undefined {
  const colon = pastSpace(json, from);
  return json[colon] === COLON ? pastSpace(json, colon + 1) : undefined;
}

function pastSpace(json: Buffer, from: number): number {
  let at = from;
  while (SPACE.has(json[at] as number)) at++;
  return at;
}
