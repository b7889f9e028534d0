import type { Metrics } from '../../platform/tracing/metrics.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const OVERHEAD_MS = [0.25, 0.5, 1, 2, 3, 5, 10, 20, 50, 100, 250];

export type HttpMetrics = {
  /** Counts an answered request. `route` is the template, never the path as sent: paths are without number. */
  answered(request: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly durationMs: number;
    readonly upstreamMs: number;
  }): void;
  socketRefused(route: string, status: number): void;
};

/** Creates the metrics of the edge. */
export function createHttpMetrics(
  metrics: Metrics,
  open: {
    readonly requests: () => number;
    readonly sockets: () => number;
    readonly connections: () => number;
    readonly refusedConnections: () => number;
  },
): HttpMetrics {
  const requests = metrics.counter('http_requests_total', 'Answers by route and status', [
    'method',
    'route',
    'status',
  ]);
  const duration = metrics.histogram(
    'http_request_duration_seconds',
    'From the first byte of the request to the last of the answer',
    SECONDS,
    ['route'],
  );
  const overhead = metrics.histogram(
    'svc_overhead_ms',
    'The part of a request that was spent here and not waiting for an upstream',
    OVERHEAD_MS,
  );
  const refused = metrics.counter('http_socket_refusals_total', 'Upgrades refused by status', [
    'route',
    'status',
  ]);
  metrics.watch('http_requests_open', 'Requests being answered', open.requests);
  metrics.watch('http_sockets_open', 'Open WebSockets', open.sockets);
  metrics.watch(
    'http_connections_open',
    'Open connections of clients, WebSockets among them',
    open.connections,
  );
  metrics.watch(
    'http_connections_refused',
    'Connections closed as they opened, because their client or all clients together had too many',
    open.refusedConnections,
  );

  return {
    answered({ method, route, status, durationMs, upstreamMs }) {
      requests.add(1, { method, route, status: String(status) });
      duration.observe(durationMs / 1_000, { route });
      overhead.observe(Math.max(0, durationMs - upstreamMs));
    },
    socketRefused: (route, status) => refused.add(1, { route, status: String(status) }),
  };
}
