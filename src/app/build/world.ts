import type { LocalEngines } from '../../engines/engine.ts';
import type { MetricsRegistry } from '../../http/server/metrics.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Random } from '../../kernel/random.ts';
import type { Catalogue } from '../../models/catalogue/catalogue.ts';
import type { OnPaymentStep } from '../../payments/proxy/payment-steps.ts';
import type { VendorTimes } from '../../payments/proxy/vendor-call.ts';
import type { CallParties, Carrier } from '../../phone/carriers/carrier.ts';
import type { LoopbackServer } from '../../phone/carriers/loopback/loopback-carrier.ts';
import type { Callee } from '../../phone/carriers/loopback/loopback-line.ts';
import type { Fetch, FetchStream } from '../../platform/egress/fetch.ts';
import type { MessageQueue } from '../../platform/messages/message-queue.ts';
import type { DatabaseTarget, Sql } from '../../platform/postgres/sql.ts';
import type { Tracer } from '../../platform/tracing/span.ts';
import type { OnSessionStep } from '../../voice/live/session-steps.ts';
import type { Settings } from '../local-secrets.ts';

export type ServerDeps = {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Port to listen on instead of the settings' port; 0 lets the system choose. */
  readonly port?: number;
  /** Database, when it is not the settings'. */
  readonly database?: DatabaseTarget;
  /** Called at each step of a payment, which waits for the returned promise. Crash tests end the process here. */
  readonly onPaymentStep?: OnPaymentStep;
  /** Called at each step of a voice session. */
  readonly onSessionStep?: OnSessionStep;
  /** Callee for calls of the loopback carrier, instead of the carrier's built-in person. */
  readonly calleeOf?: (parties: CallParties) => Promise<Callee>;
  /** Carrier instead of the settings' carrier. It calls `server` directly instead of over HTTP. */
  readonly carrierOf?: (server: LoopbackServer) => Carrier;
  /** Time limits of paid vendors, when they are not `VENDOR_TIMES`. */
  readonly vendorTimes?: VendorTimes;
  /** Time limit of the marketplace's vendors in milliseconds, when it is not that of the limits. */
  readonly vendorMs?: number;
  /** Milliseconds that a call waits for a broken media stream, when it is not that of the limits. */
  readonly lineLostMs?: number;
  /** The local engines, when the server does not make its own. They stay when it stops. */
  readonly engines?: LocalEngines;
  /** Aborts a start in progress. */
  readonly signal?: AbortSignal;
  /** Reads a provider's credential by the name of its environment variable. */
  readonly secret: (name: string) => string | undefined;
};

/** Parts that every builder of the server may use. */
export type World = ServerDeps & {
  readonly sql: Sql;
  /** Database connections that only the ledger uses. */
  readonly ledgerSql: Sql;
  readonly metrics: MetricsRegistry;
  /** Tracer of requests. Undefined when tracing is off. */
  readonly tracer: Tracer | undefined;
  readonly catalogue: Catalogue;
  /** Queue that hands on the messages of all sockets, to callers and to upstreams. */
  readonly line: MessageQueue;
  /** Sends requests to addresses from the code or the configuration. */
  readonly fetch: Fetch;
  readonly fetchStream: FetchStream;
};
