import { requestErrors } from '../../http/route/errors.ts';
import { BRAND } from '../../kernel/ids.ts';
import { writeDigits } from '../../kernel/json/digits.ts';
import { endToEndHeaders, type Header, isHeader } from '../../platform/egress/request-headers.ts';
import type { ProxyRequest } from './proxy-request.ts';

/** A request to a vendor that can be sent twice: first without a payment, then with a payment. */
export type OutboundRequest = {
  readonly method: ProxyRequest['method'];
  readonly headers: readonly Header[];
  readonly body: string | Uint8Array | undefined;
};

/**
 * Headers of the agent that are dropped, because this server frames the message and pays. A dropped Connection header is about
 * no existing connection, so the headers that it names are sent.
 */
const OURS = new Set([
  'host',
  'content-length',
  'expect',
  'connection',
  // Payment headers of the caller are dropped: only the proxy makes payments.
  'x-payment',
  'payment-signature',
  'payment-required',
  'payment-response',
  'x-payment-response',
]);

/** Returns the agent's request as its vendor receives it. Throws `Invalid request` when a header is not valid. */
export function outboundRequest({ method, headers, body }: ProxyRequest): OutboundRequest {
  const given: Header[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const header = [name.toLowerCase(), String(value).trim()] as const;
    if (!isHeader(header)) throw invalidHeader(name);
    if (!OURS.has(header[0]) && !header[0].startsWith(BRAND.headerPrefix)) given.push(header);
  }
  const lines = [...endToEndHeaders(given)];
  const isText = typeof body === 'string';
  const isJson = !isText && body !== undefined && body !== null;
  if (isJson && !lines.some(([name]) => name === 'content-type')) {
    lines.push(['content-type', 'application/json']);
  }
  const text = isJson ? writeDigits(body) : isText ? body : undefined;
  return { method, headers: lines, body: text === '' ? undefined : text };
}

const invalidHeader = (name: string) =>
  requestErrors.invalid([
    {
      path: ['headers', name.slice(0, 64)],
      message: 'must be a header name and a value without control characters',
      code: 'invalid_header',
    },
  ]);
