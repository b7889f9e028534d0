import {
  type HrTime,
  type Context as OtelContext,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { Attributes, Span, SpanEnd, SpanStart } from './span.ts';
import { traceHeaders } from './trace-context.ts';

/** Values that all spans of one trace share. */
export type TraceDeps = {
  readonly tracer: OtelTracer;
  readonly monotonicMs: () => number;
  /** Wall-clock time at which the monotonic clock was zero, measured when the trace began. */
  readonly epochMs: number;
  /** True when requests to model vendors carry the trace's headers. */
  readonly reachesUpstreams: boolean;
};

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

/** Begins a span below `parent`: the root context, a span of another service or a span of this process. */
export function startSpan(
  deps: TraceDeps,
  parent: OtelContext,
  name: string,
  { atMs, attributes = {}, kind }: SpanStart,
): Span {
  const startTime = timeOf(deps, atMs ?? deps.monotonicMs());
  const span = deps.tracer.startSpan(
    name,
    { startTime, attributes, kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind] },
    parent,
  );
  return span.isRecording()
    ? new RecordedSpan(deps, span)
    : new UnrecordedSpan(headersOf(span), deps);
}

class RecordedSpan implements Span {
  readonly isRecorded = true;
  readonly #deps: TraceDeps;
  readonly #span: OtelSpan;
  #stoppedAtMs: number | undefined;

  constructor(deps: TraceDeps, span: OtelSpan) {
    this.#deps = deps;
    this.#span = span;
  }

  get headers(): Span['headers'] {
    return headersOf(this.#span);
  }

  get upstreamHeaders(): Span['upstreamHeaders'] {
    return this.#deps.reachesUpstreams ? this.headers : undefined;
  }

  child(name: string, start: SpanStart = {}): Span {
    return startSpan(this.#deps, trace.setSpan(ROOT_CONTEXT, this.#span), name, start);
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  event(name: string, attributes: Attributes = {}): void {
    const time = timeOf(this.#deps, this.#deps.monotonicMs());
    this.#span.addEvent(name, attributes, time);
  }

  stop(): void {
    this.#stoppedAtMs ??= this.#deps.monotonicMs();
  }

  end({ atMs, attributes, error }: SpanEnd = {}): void {
    // The SDK logs a second end as a mistake. A span may end twice here, since an answer may end its span on two paths.
    if (!this.#span.isRecording()) return;
    if (attributes !== undefined) this.set(attributes);
    if (error !== undefined) {
      this.#span.setAttribute('error.type', error);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    const endMs = atMs ?? this.#stoppedAtMs ?? this.#deps.monotonicMs();
    this.#span.end(timeOf(this.#deps, endMs));
  }
}

/** Span of a trace that is not sampled. Its headers let other services continue the trace unsampled; its methods do nothing. */
export class UnrecordedSpan implements Span {
  readonly isRecorded = false;
  readonly headers: Span['headers'];
  readonly upstreamHeaders: Span['upstreamHeaders'];

  constructor(headers: Span['headers'], { reachesUpstreams }: Pick<TraceDeps, 'reachesUpstreams'>) {
    this.headers = headers;
    this.upstreamHeaders = reachesUpstreams ? headers : undefined;
  }

  child(): Span {
    return this;
  }

  set(): void {}
  event(): void {}
  stop(): void {}
  end(): void {}
}

function headersOf(span: OtelSpan): Span['headers'] {
  const { spanId, traceFlags, traceId, traceState } = span.spanContext();
  const isSampled = (traceFlags & 1) === 1;
  return traceHeaders({ traceId, spanId, isSampled, state: traceState?.serialize() });
}

/** Returns a time as seconds and nanoseconds: for a single number the SDK would have to guess the clock. */
function timeOf({ epochMs }: TraceDeps, atMs: number): HrTime {
  const ms = epochMs + atMs;
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)];
}
