import {
  createTraceState,
  type Context as OtelContext,
  ROOT_CONTEXT,
  type SpanContext,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type Clock, within } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { TRACING_LIMITS } from './limits.ts';
import type { Metrics } from './metrics.ts';
import { startSpan, UnrecordedSpan } from './otlp-span.ts';
import type { Tracer } from './span.ts';
import { readTraceContext, type TraceContext, traceHeaders } from './trace-context.ts';
import type { SamplerSettings, TracingSettings } from './tracing-settings.ts';
import { watchExports } from './watch-exports.ts';

export type OtlpDeps = { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics };

/**
 * Records spans and posts them to a collector, in batches and beside all other work. Spans that find no room are dropped, and
 * no request depends on the outcome of a post. Its end waits `TRACING_LIMITS.export.flushMs` for the last post.
 */
export function createOtlpTracer(
  { clock, log, metrics }: OtlpDeps,
  { headers, reachesUpstreams, sampler, serviceName, url }: TracingSettings,
): Tracer & AsyncDisposable {
  const exporter = new OTLPTraceExporter({
    url,
    headers: { ...headers },
    timeoutMillis: TRACING_LIMITS.export.timeoutMs,
    concurrencyLimit: TRACING_LIMITS.export.atOnce,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    sampler: samplerOf(sampler),
    spanLimits: {
      attributeCountLimit: TRACING_LIMITS.span.attributes,
      attributeValueLengthLimit: TRACING_LIMITS.span.attributeChars,
      eventCountLimit: TRACING_LIMITS.span.events,
    },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: watchExports(exporter, { log, metrics }),
        maxQueueSize: TRACING_LIMITS.export.waitingSpans,
        maxExportBatchSize: TRACING_LIMITS.export.spansPerExport,
        scheduledDelayMillis: TRACING_LIMITS.export.delayMs,
        exportTimeoutMillis: TRACING_LIMITS.export.timeoutMs,
      }),
    ],
  });
  const tracer = provider.getTracer('server');
  const monotonicMs = () => clock.monotonicMs();
  return {
    start(name, { headers: received, ...start }) {
      const remote = received && readTraceContext(received);
      if (sampler.isParentBased && remote?.isSampled === false) {
        // This process records no span, so that the services that it calls continue the caller's span.
        return new UnrecordedSpan(traceHeaders(remote), { reachesUpstreams });
      }
      const epochMs = clock.now() - clock.monotonicMs();
      const deps = { tracer, monotonicMs, reachesUpstreams, epochMs };
      return startSpan(deps, parentOf(remote), name, start);
    },
    [Symbol.asyncDispose]: () =>
      within(clock, TRACING_LIMITS.export.flushMs, provider.shutdown(), () =>
        log.warn('the last spans were not exported in time'),
      ).catch((err: unknown) => log.warn({ err }, 'the last spans were not exported')),
  };
}

function parentOf(remote: TraceContext | undefined): OtelContext {
  if (remote === undefined) return ROOT_CONTEXT;
  const { isSampled, spanId, state, traceId } = remote;
  const context: SpanContext = {
    traceId,
    spanId,
    isRemote: true,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    ...(state !== undefined && { traceState: createTraceState(state) }),
  };
  return trace.setSpanContext(ROOT_CONTEXT, context);
}

function samplerOf({ isParentBased, ratio }: SamplerSettings): Sampler {
  const root = ratio >= 1 ? new AlwaysOnSampler() : new TraceIdRatioBasedSampler(ratio);
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}
