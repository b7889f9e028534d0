import { type HttpAnswer, isStream, JSON_HEADERS, JSON_TYPE } from '../route/answer.ts';
import type { RouteReply } from '../route/route.ts';
import { checkHeader, checkHeaders } from './output-headers.ts';

/** Renders a handler's reply for the wire. Throws for headers that HTTP does not carry. */
export function renderReply(reply: RouteReply): HttpAnswer {
  checkHeaders(reply.headers);
  const { status, body, headers, lines } = reply;
  for (const [name, value] of lines ?? []) checkHeader(name, value);
  const isWritten = body instanceof Uint8Array || isStream(body);
  const sent = isWritten ? body : JSON.stringify(body);
  const typed = isWritten ? headers : jsonHeaders(headers);
  return lines === undefined
    ? { status, headers: typed, body: sent }
    : { status, headers: typed, lines, body: sent };
}

function jsonHeaders(headers: RouteReply['headers']): RouteReply['headers'] {
  for (const _ in headers) return { 'content-type': JSON_TYPE, ...headers };
  return JSON_HEADERS;
}
