import type { Tracer } from '../../kernel/trace.ts';
import type { OtlpDeps } from './otlp-tracer.ts';
import type { TracingSettings } from './tracing-settings.ts';

/** Loads OpenTelemetry and begins to trace, if that is configured. Without it nothing of it is loaded. */
export async function openTracing(
  deps: OtlpDeps,
  settings: TracingSettings | undefined,
): Promise<(Tracer & AsyncDisposable) | undefined> {
  if (settings === undefined) return undefined;
  const { createOtlpTracer } = await import('./otlp-tracer.ts');
  return createOtlpTracer(deps, settings);
}
