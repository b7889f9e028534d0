import { createHash } from 'node:crypto';
import { errors } from '../kernel/errors.ts';
import { canonicalJson } from '../kernel/json/canonical-json.ts';
import { LIMITS } from '../kernel/limits.ts';
import { turnForLongWork } from '../kernel/long-work.ts';

/** The parts of a call that distinguish it from others. */
export type CallName = {
  /** `_meta.idempotencyKey` of the call. */
  readonly metaKey: unknown;
  /** The `Idempotency-Key` of the request, which clients set once for all of their requests. */
  readonly headerKey: string | undefined;
  /** The id of the JSON-RPC message. */
  readonly id: string | number;
  readonly tool: string;
  /** As the client sent them. */
  readonly args: unknown;
};

/**
 * The key that the work of a call is done under, at most once. The call's own counts as it is, and is one with the same
 * key on the route behind the tool. The key of a request is joined with the message's id, the tool and its arguments: the
 * same message again is the same work. The id alone does not tell messages apart, because clients that start anew count
 * from the beginning. Undefined: the client named nothing, and a repeated call is a new one. Rejects with
 * `Invalid request` for a `_meta.idempotencyKey` that is no string: without it the call would be paid for twice.
 */
export async function workKey(call: CallName): Promise<string | undefined> {
  const { args = {}, headerKey, id, metaKey, tool } = call;
  if (typeof metaKey === 'string') return metaKey;
  if (metaKey !== undefined) throw errors.request.invalid([NO_STRING]);
  if (headerKey === undefined) return undefined;
  const text = canonicalJson([headerKey, id, tool, args]);
  if (text.length <= LIMITS.copyBytesPerTurn) return digestOf(text);
  // Serializing and hashing megabytes of sound take 10 ms each, and so does the tool's next step.
  await turnForLongWork();
  const key = digestOf(text);
  await turnForLongWork();
  return key;
}

/** One length and one alphabet, whatever ids a client makes. */
const digestOf = (text: string): string => `mcp-${createHash('sha256').update(text).digest('hex')}`;

const NO_STRING = {
  path: ['_meta', 'idempotencyKey'],
  message: 'must be a string',
  code: 'invalid_type',
};
