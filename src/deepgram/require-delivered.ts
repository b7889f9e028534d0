import { errors } from '../kernel/errors.ts';
import { tryParseJson } from '../kernel/json/parse-json.ts';
import { isObject } from '../kernel/json.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Relayed } from '../models/purchase/answer.ts';

/**
 * The answer of an upstream, or its refusal as one of ours: clients of this protocol read errors in one shape alone, and an
 * upstream may have another. Throws the latter.
 */
export function requireDelivered(answer: Relayed): Relayed {
  const { body, headers, status } = answer;
  if (status < 400) return answer;
  const { 'content-type': _, ...receipt } = headers;
  throw errors.deepgram.upstreamRefused(status, messageOf(body), receipt);
}

/** What an upstream says of its refusal, in the shapes that are known. */
function messageOf(body: Uint8Array): string {
  const text = Buffer.from(body.subarray(0, LIMITS.deepgram.refusalBytes)).toString('utf8');
  const json = tryParseJson(text);
  const { err_msg, error, message } = isObject(json) ? json : {};
  const inner = isObject(error) ? error.message : error;
  const said = [err_msg, inner, message].find((part) => typeof part === 'string');
  return typeof said === 'string' ? said : 'The upstream refused this request.';
}
