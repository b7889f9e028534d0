/**
 * Code that is traced gets its span as an argument, and does not know who collects it. Where work is not traced the
 * span is undefined, so that `span?.child(…)` costs nothing: not even its attributes are made.
 */

export type AttributeValue = string | number | boolean | string[] | undefined;
/** Attributes of a span; undefined ones are left out. No prompt, sound, transcript, key or telephone number is an attribute. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

export type SpanStart = {
  /** Role in the exchange: `server` answers a request, `client` makes a request. Absent for work inside this process. */
  readonly kind?: 'server' | 'client';
  readonly attributes?: Attributes;
  /** Start time on the monotonic clock; by default now. */
  readonly atMs?: number;
};

export type SpanEnd = {
  readonly attributes?: Attributes;
  /** End time on the monotonic clock; by default the time of `stop`, or now. */
  readonly atMs?: number;
  /** Class of the failure, such as `timeout` or `502`. Undefined when the work succeeded. */
  readonly error?: string | undefined;
};

/** One piece of work in a trace. */
export interface Span {
  /** The headers that let another service continue the trace (W3C Trace Context). */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Headers that let a model vendor continue the trace. Undefined when the operator has not allowed vendors to continue traces.
   */
  readonly upstreamHeaders: Readonly<Record<string, string>> | undefined;
  /** True when the trace is sampled. Nothing is kept of a trace that is not sampled. */
  readonly isRecorded: boolean;
  child(name: string, start?: SpanStart): Span;
  set(attributes: Attributes): void;
  event(name: string, attributes?: Attributes): void;
  /** Notes that the work ends now. `end` follows once its result is known. Only the first call counts. */
  stop(): void;
  /** Ends the span. Only the first call counts. */
  end(end?: SpanEnd): void;
}

export interface Tracer {
  /** Begins a span in the trace that `headers` (of a request) name, or in a new trace when they name none. */
  start(
    name: string,
    options: SpanStart & { readonly headers?: ReadonlyMap<string, string> | undefined },
  ): Span;
}
