import { topMember } from '../../purchase/top-member.ts';

const QUOTE = 0x22;
const KEY = Buffer.from('model');

/**
 * Replaces the member `model` of a JSON object by the catalogue's name: upstreams answer with names of their own, and a client
 * must be able to request a stored name again. All other bytes, and text before the object such as `data: `, stay unchanged, as
 * does an object without a string under `model`. `depth` is the number of objects that enclose the first byte, for bytes from
 * the middle of an object.
 */
export function renameModel(json: Buffer, name: string | undefined, depth = 0): Buffer {
  if (name === undefined) return json;
  const value = topMember(json, KEY, depth);
  if (value === undefined) return json;
  const [start, end] = value;
  if (json[start] !== QUOTE) return json;
  return Buffer.concat([
    json.subarray(0, start),
    Buffer.from(JSON.stringify(name)),
    json.subarray(end),
  ]);
}
