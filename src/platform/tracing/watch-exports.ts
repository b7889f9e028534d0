import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Log } from '../../kernel/log.ts';
import type { Metrics } from './metrics.ts';

/** Counts the spans that an exporter delivers and loses, and logs an outage once: when it begins. */
export function watchExports(
  exporter: SpanExporter,
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
): SpanExporter {
  const spans = metrics.counter('svc_trace_spans_total', 'Spans by what became of them', [
    'outcome',
  ]);
  let isAway = false;
  return {
    export(batch: ReadableSpan[], done) {
      exporter.export(batch, (result) => {
        const isDelivered = result.code === 0;
        spans.add(batch.length, { outcome: isDelivered ? 'exported' : 'lost' });
        if (!isDelivered && !isAway) {
          log.warn({ why: result.error?.message }, 'spans could not be exported');
        }
        isAway = !isDelivered;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
