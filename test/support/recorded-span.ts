import type { Attributes, Span, SpanEnd, SpanStart } from '../../src/platform/tracing/span.ts';

/** A span that keeps what it is told. */
export class RecordedSpan implements Span {
  readonly headers = {};
  readonly upstreamHeaders = undefined;
  readonly isRecorded = true;
  readonly children: RecordedSpan[] = [];
  readonly events: string[] = [];
  readonly name: string;
  readonly start: SpanStart;
  attributes: Attributes;
  isStopped = false;
  ended: SpanEnd | undefined;

  constructor(name: string, start: SpanStart = {}) {
    this.name = name;
    this.start = start;
    this.attributes = start.attributes ?? {};
  }

  child(name: string, start: SpanStart = {}): RecordedSpan {
    const child = new RecordedSpan(name, start);
    this.children.push(child);
    return child;
  }

  set(attributes: Attributes): void {
    this.attributes = { ...this.attributes, ...attributes };
  }

  event(name: string): void {
    this.events.push(name);
  }

  stop(): void {
    this.isStopped = true;
  }

  end(end: SpanEnd = {}): void {
    if (this.ended !== undefined) return;
    this.ended = end;
    this.set(end.attributes ?? {});
  }
}
