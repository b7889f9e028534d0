import type { Teardown } from '../../kernel/teardown.ts';
import type { OtlpDeps } from './otlp-tracer.ts';
import type { Tracer } from './span.ts';
import type { TracingSettings } from './tracing-settings.ts';

/**
 * Loads OpenTelemetry and traces until the teardown, if tracing is configured. Otherwise no part of OpenTelemetry is loaded.
 */
export async function openTracing(
  deps: OtlpDeps,
  settings: TracingSettings | undefined,
  teardown: Pick<Teardown, 'use'>,
): Promise<Tracer | undefined> {
  if (settings === undefined) return undefined;
  const { createOtlpTracer } = await import('./otlp-tracer.ts');
  return teardown.use('tracing', createOtlpTracer(deps, settings));
}
