import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Tracer } from '../../platform/tracing/span.ts';
import type { HeaderLine } from '../route/answer.ts';
import type { HttpMetrics } from './http-metrics.ts';

/** Parts that requests and handshakes are both served with. */
export type EdgeDeps = {
  readonly metrics: HttpMetrics;
  /** Tracer of the requests. Undefined when no request is traced. */
  readonly tracer?: Tracer | undefined;
  readonly clientAddress: (remote: string, forwardedFor: string | undefined) => string;
  readonly requestId: (sent: string | undefined) => string;
  readonly commonHeaders: readonly HeaderLine[];
  readonly clock: Clock;
  readonly log: Log;
  readonly isDraining: () => boolean;
};
