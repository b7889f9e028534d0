import { BRAND } from '../kernel/ids.ts';
import { refuse } from '../kernel/refuse.ts';
import type { ProxyRequest } from './proxy-request.ts';

export type HeaderLine = readonly [name: string, value: string];

/** A vendor request, ready to be sent twice: without a payment, and with one. */
export type OutboundRequest = {
  readonly method: ProxyRequest['method'];
  readonly headers: readonly HeaderLine[];
  readonly body: string | undefined;
};

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** These frame the message or speak to the next hop, which is this server's business alone. */
const OURS = new Set([
  ...['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'te', 'trailer'],
  ...['upgrade', 'expect', 'proxy-authorization', 'proxy-authenticate', 'proxy-connection'],
  // Payments are made here and nowhere else.
  ...['x-payment', 'payment-signature', 'payment-required', 'payment-response'],
  'x-payment-response',
]);

/** The agent's request as its vendor is to see it. Throws `Invalid request` on a header that is none. */
export function outboundRequest({ method, headers, body }: ProxyRequest): OutboundRequest {
  const lines: HeaderLine[] = [];
  for (const [name, given] of Object.entries(headers)) {
    const value = String(given).trim();
    if (!NAME.test(name) || !VALUE.test(value)) throw invalidHeader(name);
    const lower = name.toLowerCase();
    if (OURS.has(lower) || lower.startsWith(BRAND.headerPrefix)) continue;
    lines.push([lower, value]);
  }
  const isText = typeof body === 'string';
  const isJson = !isText && body !== undefined && body !== null;
  if (isJson && !lines.some(([name]) => name === 'content-type')) {
    lines.push(['content-type', 'application/json']);
  }
  const text = isJson ? JSON.stringify(body) : isText ? body : undefined;
  return { method, headers: lines, body: text === '' ? undefined : text };
}

const invalidHeader = (name: string) =>
  refuse.request.invalid([
    {
      path: ['headers', name.slice(0, 64)],
      message: 'must be a header name and a value without control characters',
      code: 'invalid_header',
    },
  ]);
