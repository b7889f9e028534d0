import { EGRESS_LIMITS } from './limits.ts';
import { BadRequestHeader } from './send-failed.ts';

export type Header = readonly [name: string, value: string];

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

const FRAMING = new Set(['host', 'content-length', 'expect']);

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Characters of a field value on the wire, one byte each. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Returns true when a name and its value are valid on the wire. */
export const isHeader = ([name, value]: Header): boolean => TOKEN.test(name) && VALUE.test(value);

/**
 * Returns the headers that are meant for the other end of a connection chain: without hop-by-hop headers, `proxy-*` headers,
 * and headers that a Connection header names. Order, spelling and repetitions are kept.
 */
export function endToEndHeaders(headers: readonly Header[]): readonly Header[] {
  const named = new Set<string>();
  for (const [name, value] of headers) {
    if (name.toLowerCase() !== 'connection') continue;
    for (const option of value.split(',')) named.add(option.trim().toLowerCase());
  }
  return headers.filter(([name]) => {
    const lower = name.toLowerCase();
    return !HOP_BY_HOP.has(lower) && !lower.startsWith('proxy-') && !named.has(lower);
  });
}

/**
 * Returns the headers of a caller that are sent on: end-to-end headers, without headers that frame the message. Throws
 * BadRequestHeader when a header is invalid or the headers are too large.
 */
export function outgoingHeaders(headers: readonly Header[]): readonly Header[] {
  let bytes = 0;
  for (const [name, value] of headers) {
    // The message does not repeat the name, which may be the invalid part.
    if (!TOKEN.test(name)) throw new BadRequestHeader('a header name is not valid');
    if (!VALUE.test(value)) throw new BadRequestHeader(`the value of ${name} is not valid`);
    bytes += name.length + value.length + 4;
  }
  if (headers.length > EGRESS_LIMITS.request.headers || bytes > EGRESS_LIMITS.request.headerBytes) {
    throw new BadRequestHeader('the headers are too large');
  }
  return endToEndHeaders(headers).filter(([name]) => !FRAMING.has(name.toLowerCase()));
}
