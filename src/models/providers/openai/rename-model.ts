import { topMember } from '../../../kernel/json/top-member.ts';

const QUOTE = 0x22;
const KEY = Buffer.from('model');

/**
 * Sets the member `model` of a JSON object to the name that the catalogue has for it: upstreams answer with names of
 * their own, and a client that stores the name must be able to request it again. All other bytes stay the same. Text
 * before the object, such as `data: `, is skipped; an object without the member, or with no string in it, is returned
 * unchanged. `depth` is how many objects enclose the first byte, where the bytes are the end of an object.
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
