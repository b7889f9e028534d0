import type { Log } from '../kernel/log.ts';
import type { Metrics } from '../platform/tracing/metrics.ts';

/** Report of a client about one call of a tool that it made. */
export type ToolCallReport = {
  readonly tool: string;
  readonly durationMs: number;
  readonly ok: boolean;
  readonly errorCode?: string | undefined;
};

export type ToolCalls = ReturnType<typeof createToolCalls>;

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Counts the tool calls that clients report, in the metrics of this process. Names and codes come from outside and are of any
 * number, so they go to the log and not into labels.
 */
export function createToolCalls({
  metrics,
  log,
}: {
  readonly metrics: Metrics;
  readonly log: Log;
}) {
  const seconds = metrics.histogram(
    'svc_client_tool_call_seconds',
    'Calls of tools that clients have reported, by their outcome',
    SECONDS,
    ['outcome'],
  );
  return {
    count({ durationMs, errorCode, ok, tool }: ToolCallReport): void {
      seconds.observe(durationMs / 1_000, { outcome: ok ? 'ok' : 'failed' });
      log.debug({ tool, durationMs, ok, errorCode }, 'a client reports a call of a tool');
    },
  };
}
