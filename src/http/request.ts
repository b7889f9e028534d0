import type { HttpRequest } from 'uWebSockets.js';
import { type Clock, sleep } from '../kernel/clock.ts';
import { PROVIDER_KEY_HEADER } from '../provider-keys/provider-key-header.ts';

/** A request, copied out of the socket library's memory, which is gone after the first await. */
export type IncomingRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Names in lower case. Repeated lists are joined. */
  readonly headers: ReadonlyMap<string, string>;
  /** A header that must stand alone and came twice: two lengths are how requests are smuggled. */
  readonly doubledHeader: string | undefined;
};

const SINGLE = new Set([
  'content-length',
  'content-type',
  'transfer-encoding',
  'host',
  'authorization',
  'idempotency-key',
  'x-admin-key',
  'x-wallet-address',
  'x-signature',
  'x-timestamp',
  PROVIDER_KEY_HEADER,
]);

/** Copies everything at once; call it before anything else, while `req` is still alive. */
export function copyRequest(req: HttpRequest): IncomingRequest {
  const headers = new Map<string, string>();
  let doubledHeader: string | undefined;
  req.forEach((name, value) => {
    const earlier = headers.get(name);
    if (earlier === undefined) {
      headers.set(name, value);
      return;
    }
    if (SINGLE.has(name)) doubledHeader = name;
    headers.set(name, `${earlier}${name === 'cookie' ? '; ' : ', '}${value}`);
  });

  return {
    method: req.getMethod().toUpperCase(),
    path: req.getUrl(),
    query: req.getQuery(),
    headers,
    doubledHeader,
  };
}

/**
 * To be awaited before a request of doubtful length is refused. An answer from inside the library's
 * callback would not stop it from serving what follows in the same packet, even if the answer closes
 * the connection; while this one is pending, whatever follows closes it unserved.
 */
export const untilParserIsDone = (clock: Clock): Promise<void> => sleep(clock, 0);
