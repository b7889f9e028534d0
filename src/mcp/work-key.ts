import { createHash } from 'node:crypto';
import { requestErrors } from '../http/route/errors.ts';
import { canonicalJson } from '../kernel/json/canonical-json.ts';
import { COPY_BYTES_PER_TURN, turnForLongWork } from '../kernel/long-work.ts';

/** Parts of a tool call that distinguish it from other calls. */
export type CallName = {
  /** Value of `_meta.idempotencyKey` in the call. */
  readonly metaKey: unknown;
  /** Value of the request's `Idempotency-Key` header. Clients set it once for all of their requests. */
  readonly headerKey: string | undefined;
  /** Id of the JSON-RPC message. */
  readonly id: string | number;
  readonly tool: string;
  /** Arguments of the call as the client sent them. */
  readonly args: unknown;
};

/**
 * Returns the key under which the work of a call is done at most once. The call's own key is used unchanged, and equals the
 * same key on the route behind the tool. A request's key is joined with the message's id, the tool and its arguments, so that
 * the same message again is the same work; the id alone is not unique, because restarted clients count from the beginning.
 * Undefined when the client sent no key, so that a repeated call is a new call. Rejects with `Invalid request` for a
 * `_meta.idempotencyKey` that is no string: without it the call would be paid for twice.
 */
export async function workKey(call: CallName): Promise<string | undefined> {
  const { args = {}, headerKey, id, metaKey, tool } = call;
  if (typeof metaKey === 'string') return metaKey;
  if (metaKey !== undefined) throw requestErrors.invalid([NO_STRING]);
  if (headerKey === undefined) return undefined;
  const text = canonicalJson([headerKey, id, tool, args]);
  if (text.length <= COPY_BYTES_PER_TURN) return digestOf(text);
  // Serializing and hashing megabytes of sound take 10 ms each, and so does the tool's next step.
  await turnForLongWork();
  const key = digestOf(text);
  await turnForLongWork();
  return key;
}

/** Returns a key of fixed length and alphabet, whatever ids a client uses. */
const digestOf = (text: string): string => `mcp-${createHash('sha256').update(text).digest('hex')}`;

const NO_STRING = {
  path: ['_meta', 'idempotencyKey'],
  message: 'must be a string',
  code: 'invalid_type',
};
