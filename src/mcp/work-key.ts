import { createHash } from 'node:crypto';

/** What a client may say of one call that it may come to make again. */
export type CallName = {
  /** `_meta.idempotencyKey` of the call. */
  readonly metaKey: unknown;
  /** The `Idempotency-Key` of the request, which clients set once for all of their requests. */
  readonly headerKey: string | undefined;
  /** The id of the JSON-RPC message. */
  readonly id: string | number;
};

/**
 * The key that the work of a call is done under, at most once. The call's own counts as it is, and is one with the same
 * key on the route behind the tool. The key of a request is joined with the message's id: the same message again is the
 * same work, and the next message is another. Undefined: the client named nothing, and a repeated call is a new one.
 */
export function workKey({ metaKey, headerKey, id }: CallName): string | undefined {
  if (typeof metaKey === 'string') return metaKey;
  if (headerKey === undefined) return undefined;
  // One length and one alphabet, whatever ids a client makes.
  const digest = createHash('sha256').update(JSON.stringify([headerKey, id]));
  return `mcp-${digest.digest('hex')}`;
}
