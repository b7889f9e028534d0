import { tryParseJson } from '../../kernel/json/parse-json.ts';
import { isObject } from '../../kernel/json.ts';
import type { Relayed } from '../../models/purchase/answer.ts';
import { deepgramErrors } from './errors.ts';
import { DEEPGRAM_LIMITS } from './limits.ts';

/**
 * Returns a successful response. Throws an upstream's error as a gateway error: clients of this protocol read only one error
 * shape, and an upstream may use another.
 */
export function requireDelivered(answer: Relayed): Relayed {
  const { body, headers, status } = answer;
  if (status < 400) return answer;
  const { 'content-type': _, ...receipt } = headers;
  throw deepgramErrors.upstreamRefused(status, messageOf(body), receipt);
}

/** Returns the message in an upstream's refusal, in any of the known shapes. */
function messageOf(body: Uint8Array): string {
  const text = Buffer.from(body.subarray(0, DEEPGRAM_LIMITS.refusalBytes)).toString('utf8');
  const json = tryParseJson(text);
  const { err_msg, error, message } = isObject(json) ? json : {};
  const inner = isObject(error) ? error.message : error;
  const said = [err_msg, inner, message].find((part) => typeof part === 'string');
  return typeof said === 'string' ? said : 'The upstream refused this request.';
}
