import type { HttpRequest } from 'uWebSockets.js';
import { PROVIDER_KEY_HEADER } from '../../accounts/provider-keys/provider-key-header.ts';
import type { ApiError } from '../../kernel/api-error.ts';
import { soon } from '../../kernel/clock.ts';
import { BRAND } from '../../kernel/ids.ts';
import { requestErrors } from '../route/errors.ts';

/** Copy of a request. The socket library's own memory of it is gone after the first await. */
export type IncomingRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Headers with names in lower case. The values of a repeated header are joined. */
  readonly headers: ReadonlyMap<string, string>;
  /** Name of a header that must not be repeated and came twice: two lengths are a way to smuggle requests. */
  readonly doubledHeader: string | undefined;
  readonly framing: Framing;
};

/**
 * Way by which the end of a request is found. The library reads chunked bodies loosely (it takes `1>` for a size, a bare line
 * feed for a line's end, and checks no terminator), so that it and a proxy in front may see different ends. A request that is
 * not framed by one length is therefore the last of its connection: bytes that another reader would take for a second request
 * behind it are never served. `doubtful` is refused besides.
 */
export type Framing = 'length' | 'chunked' | 'doubtful';

const SINGLE = new Set([
  'content-length',
  'content-type',
  'transfer-encoding',
  'host',
  'authorization',
  'x-api-key',
  'idempotency-key',
  'x-admin-key',
  'x-wallet-address',
  'x-signature',
  'x-timestamp',
  BRAND.accountHeader,
  PROVIDER_KEY_HEADER,
]);

/** Copies the whole request. Call it before anything else, while `req` is still valid. */
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
    // The library returns undefined for an empty query.
    query: req.getQuery() ?? '',
    headers,
    doubledHeader,
    framing: framingOf(headers.get('transfer-encoding'), doubledHeader),
  };
}

function framingOf(transferEncoding: string | undefined, doubledHeader?: string): Framing {
  if (doubledHeader !== undefined) return 'doubtful';
  if (transferEncoding === undefined) return 'length';
  return transferEncoding.toLowerCase() === 'chunked' ? 'chunked' : 'doubtful';
}

/** Returns the refusal of a request with doubtful framing; undefined for any other request. */
export function framingRefusal({ doubledHeader, framing }: IncomingRequest): ApiError | undefined {
  if (framing !== 'doubtful') return undefined;
  const detail =
    doubledHeader === undefined
      ? {
          path: ['transfer-encoding'],
          message: 'must be chunked, and nothing else',
          code: 'unsupported_transfer_encoding',
        }
      : { path: [doubledHeader], message: 'came twice', code: 'doubled_header' };
  return requestErrors.invalid([detail]);
}

/**
 * Resolves when the library has read all bytes that the client has sent. Until then the request's answer is pending, and the
 * library closes a connection that brings another request behind a pending one: no further request of the same packet is
 * served.
 */
export const untilParserIsDone = (): Promise<void> => new Promise((resolve) => soon(resolve));
