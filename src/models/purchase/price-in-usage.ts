import type { Json } from '../../kernel/json.ts';
import type { Price } from './receipt.ts';
import { topMember } from './top-member.ts';

/**
 * Writes the price of an answer into its `usage`: `cost_raw`, and `cache_discount_raw` when a prompt cache was used. Both are
 * raw USDC as decimal texts, for clients that show neither headers nor the comments of a stream.
 */

const OPEN = 0x7b;
const CLOSE = 0x7d;
const USAGE = Buffer.from('usage');

export const priceMembers = ({ cacheDiscountRaw: discount, chargedRaw }: Price): Json => ({
  cost_raw: chargedRaw.toString(),
  ...(discount !== undefined && { cache_discount_raw: discount.toString() }),
});

/** Adds the price to the member `usage` of a JSON object. All other bytes stay unchanged, as does a body that is no object. */
export function priceInBody(body: Uint8Array, price: Price): Uint8Array {
  const json = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const object = JSON.stringify(priceMembers(price));
  const usage = topMember(json, USAGE);
  if (usage === undefined) return withMembers(json, `"usage":${object}`);
  const [start, end] = usage;
  const written =
    json[start] === OPEN
      ? withMembers(json.subarray(start, end), object.slice(1, -1))
      : Buffer.from(object);
  return Buffer.concat([json.subarray(0, start), written, json.subarray(end)]);
}

/** Inserts further members at the end of an object. */
function withMembers(json: Buffer, text: string): Buffer {
  const close = json.lastIndexOf(CLOSE);
  if (close === -1) return json;
  const head = json.subarray(0, close);
  const isEmpty = head.toString('latin1').trimEnd().endsWith('{');
  return Buffer.concat([head, Buffer.from(isEmpty ? text : `,${text}`), json.subarray(close)]);
}
