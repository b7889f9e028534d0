import type { Span, Tracer } from '../../platform/tracing/span.ts';
import type { HeaderLine } from '../route/answer.ts';

/** Begins the span of a request to a route, which continues the trace of its caller. */
export const beginRequest = (
  tracer: Tracer,
  request: {
    readonly method: string;
    /** Template of the path, never the path as sent: paths carry ids. */
    readonly route: string;
    readonly requestId: string;
    readonly headers: ReadonlyMap<string, string>;
  },
): Span =>
  tracer.start(`${request.method} ${request.route}`, {
    kind: 'server',
    headers: request.headers,
    attributes: {
      'http.request.method': request.method,
      'http.route': request.route,
      'svc.request.id': request.requestId,
    },
  });

const NONE: readonly HeaderLine[] = [];

/** Returns the header that names the trace in an answer (W3C Trace Context level 2); none when no trace is recorded. */
export function traceLines(span: Span | undefined): readonly HeaderLine[] {
  const traceparent = span?.isRecorded === true ? span.headers.traceparent : undefined;
  return traceparent === undefined ? NONE : [['traceresponse', traceparent]];
}

/** Ends the span of a request that was answered with this status. */
export function endAnswered(span: Span | undefined, status: number): void {
  span?.end({
    attributes: { 'http.response.status_code': status },
    error: status >= 500 ? String(status) : undefined,
  });
}
