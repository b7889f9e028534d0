import { assert } from '../../kernel/assert.ts';
import { BRAND } from '../../kernel/ids.ts';
import type { HeaderLine } from '../route/answer.ts';
import { API_VERSION } from '../server/api-version.ts';

// The socket library writes any text: a line break in a header would begin a second header.
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\uffff]*$/;

/** Headers that frame the message. Only the socket library may write such headers. */
const FRAMING = new Set(['content-length', 'transfer-encoding', 'connection', 'keep-alive']);

/** Throws when a header is malformed, since it would break the message apart. Keeps the spelling of names. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const name in headers) checkHeader(name, headers[name] as string);
}

/** Throws when a header is not valid. */
export function checkHeader(name: string, value: string): void {
  assert(NAME.test(name), 'a header name is a token');
  assert(VALUE.test(value), `the header ${name} has no control characters`);
  assert(!FRAMING.has(name.toLowerCase()), `${name} is written by the socket layer only`);
}

const EXPOSED = [
  'cost-usdc',
  'payment-amount',
  'payment',
  'model',
  'rail',
  'attempts',
  'provider',
  'fallbacks',
  'cache-discount-usdc',
  'max-tokens-applied',
  'token-count',
  'budget-remaining-usdc',
  'idempotent-replay',
  'api-version',
].map((name) => BRAND.headerPrefix + name);

const EXPOSED_OTHERS = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'retry-after',
  'retry-after-ms',
  'x-request-id',
  // Name of the request id in Anthropic's API.
  'request-id',
  'x-should-retry',
  'dg-request-id',
  'dg-error',
  'dg-model-name',
  'dg-model-uuid',
  'dg-char-count',
  'payment-response',
  'x-payment-response',
  // Headers of a model that its vendor shuts down.
  'sunset',
  'deprecation',
  'link',
];

/** Returns the headers of every answer. An advisory is exposed only when it is switched on. */
export function commonHeaders(advisories: readonly string[] = []): readonly HeaderLine[] {
  return [
    [`${BRAND.headerPrefix}api-version`, API_VERSION],
    ['access-control-allow-origin', '*'],
    ['x-content-type-options', 'nosniff'],
    ['access-control-expose-headers', [...EXPOSED, ...advisories, ...EXPOSED_OTHERS].join(', ')],
  ];
}

/** Returns the headers that are added to each answer to a request with a credential. */
export const privateHeaders = (common: readonly HeaderLine[]): readonly HeaderLine[] => [
  ...common,
  ['cache-control', 'no-store'],
];

const REQUESTABLE = /^[A-Za-z0-9-]+(?:\s*,\s*[A-Za-z0-9-]+){0,63}$/;

/** Returns the headers of the answer to a preflight: the verbs of the route, and the headers that the browser requested. */
export function preflightHeaders(
  allow: readonly string[],
  requested: string | undefined,
): Record<string, string> {
  const headers =
    requested !== undefined && REQUESTABLE.test(requested)
      ? requested
      : 'authorization, content-type, idempotency-key';
  return {
    allow: allow.join(', '),
    'access-control-allow-methods': allow.join(', '),
    'access-control-allow-headers': headers,
    'access-control-max-age': '86400',
  };
}
