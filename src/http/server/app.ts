import { DRAINING } from '../../../machines/draining.ts';
import { CONFIG_LIMITS } from '../../config/limits.ts';
import type { IdempotencyStore } from '../../idempotency/idempotency.ts';
import { assert } from '../../kernel/assert.ts';
import { type Clock, sleep } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Random } from '../../kernel/random.ts';
import type { MessageQueue } from '../../platform/messages/message-queue.ts';
import type { Metrics } from '../../platform/tracing/metrics.ts';
import type { Tracer } from '../../platform/tracing/span.ts';
import {
  createRateGate,
  DEFAULT_RATE_LIMITS,
  type HoldsProviderKeys,
  type RateLimits,
} from '../../rate-limit/rate-gate.ts';
import { createRateLimiter, type RateLimiter } from '../../rate-limit/rate-limit.ts';
import { SignInNetworks } from '../../rate-limit/sign-in-networks.ts';
import type { RefusalLog } from '../../reports/refusals/refusal-log.ts';
import { createAdmitAgent, createAuthenticate } from '../auth/authenticate.ts';
import type { Credentials } from '../auth/credentials.ts';
import { BodyBudget } from '../body/body-budget.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { type AskAs, createAskAs } from '../pipeline/ask-as.ts';
import { commonHeaders, privateHeaders } from '../pipeline/output-headers.ts';
import { createClientAddress, createIsTrustedProxy } from '../route/client-address.ts';
import type { AnyRoute, RouteSpec } from '../route/route.ts';
import { type AnySocket, envelopeOf, type SocketSpec } from '../route/socket-route.ts';
import {
  createSocketRegistry,
  type SocketCaps,
  type SocketRegistry,
} from '../websocket/socket-registry.ts';
import { UpgradeGate } from '../websocket/upgrade-gate.ts';
import { type SocketDeps, socketBehavior } from '../websocket/web-socket.ts';
import type { CertificateFiles } from './certificate.ts';
import { takeCensus } from './connection-census.ts';
import {
  type ConnectionCaps,
  ConnectionGate,
  connectionCaps,
  descriptorLimit,
} from './connection-gate.ts';
import { createHttpMetrics } from './http-metrics.ts';
import { type ListeningSocket, listenOn } from './listen-on.ts';
import { createRequestIds } from './request-id.ts';
import { createRouter } from './router.ts';
import { type Endpoint, type ServeDeps, serveRequest } from './serve-request.ts';
import { createStrangerGate } from './stranger-gate.ts';
import { createTurnBudget } from './turn-budget.ts';
import { createUnknownRoute } from './unknown-route.ts';
import { loadUws } from './uws.ts';

/** Services that one endpoint uses. */
type Reach<E> =
  // biome-ignore lint/suspicious/noExplicitAny: only the services are of interest.
  E extends RouteSpec<infer S, any, any, any, any>
    ? (services: S) => void
    : // biome-ignore lint/suspicious/noExplicitAny: only the services are of interest.
      E extends SocketSpec<infer S, any>
      ? (services: S) => void
      : never;

/** Services that all endpoints together use; the compiler checks that the composed server has them. */
export type ServicesOf<E> = Reach<E> extends (services: infer All) => void ? All : never;

export type HttpServerDeps<R extends AnyRoute, S extends AnySocket> = {
  readonly routes: readonly R[];
  readonly sockets: readonly S[];
  readonly services: ServicesOf<R | S>;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Queue of the messages of all sockets, shared with the sockets that this server opens itself. */
  readonly line: MessageQueue;
  /** Tracer of the requests. Undefined when no request is traced. */
  readonly tracer?: Tracer | undefined;
  readonly secureCookies: boolean;
  readonly publicUrl?: string | undefined;
  readonly trustedProxies?: readonly string[];
  readonly rateLimits?: Partial<RateLimits>;
  /** Returns true when an account has stored provider keys. Absent: no account has any. */
  readonly holdsProviderKeys?: HoldsProviderKeys;
  /** Store of the counts of all limits but the server-wide limit. Absent: this process counts for itself. */
  readonly rateLimiter?: RateLimiter;
  readonly socketCaps?: Partial<SocketCaps>;
  /** Caps of connections. By default those that the process's file descriptors allow. */
  readonly connectionCaps?: Partial<ConnectionCaps>;
  /** Certificate files that `checkCertificate` has accepted. Absent: the server listens without TLS. */
  readonly tls?: CertificateFiles | undefined;
  readonly idempotency?: IdempotencyStore;
  /** Record of the agents' refusals and failed calls. Absent: none is kept. */
  readonly refusals?: Pick<RefusalLog, 'note'>;
  /** Called when a tool for AI clients acts for an account. */
  readonly seeAiTool?: (accountId: string) => void;
  /** Names of the advisory headers that are switched on, so that browsers may read them. */
  readonly advisoryHeaders?: readonly string[];
};

export interface HttpServer extends AsyncDisposable {
  /** Listens on the port (0: a port that the system chooses) and returns it. Rejects when the port is taken. */
  listen(place: { readonly host: string; readonly port: number }): Promise<number>;
  /** Stops accepting, lets requests and sockets finish within `graceMs`, then closes the remaining connections. */
  drain(graceMs: number): Promise<void>;
  readonly askAs: AskAs;
  /** Closes the sockets of an agent, or of one of its keys, at once with code 1008. */
  closeAgentSockets(agentId: number, keyId?: number): void;
  readonly openRequests: number;
  readonly openSockets: number;
}

const sslOptions = ({ certFile, keyFile }: CertificateFiles) => ({
  cert_file_name: certFile,
  key_file_name: keyFile,
});

/** Interval at which a draining server checks for open requests and sockets. */
const DRAIN_POLL_MS = 20;

/** Creates the server from its routes and sockets. It accepts no connection before `listen`. */
export async function createHttpServer<R extends AnyRoute, S extends AnySocket>(
  deps: HttpServerDeps<R, S>,
): Promise<HttpServer> {
  assert(
    deps.idempotency !== undefined || !deps.routes.some(({ idempotent }) => idempotent),
    'a route that takes Idempotency-Key has a store that keeps its answers',
  );
  const uws = loadUws();
  const { clock } = deps;
  const state = { draining: false, openRequests: 0 };
  const registry = createSocketRegistry({
    perAgent: deps.socketCaps?.perAgent ?? CONFIG_LIMITS.socketsPerAgent,
    perAddress: deps.socketCaps?.perAddress ?? HTTP_LIMITS.socket.perAddress,
  });
  const gate = new UpgradeGate(uws, deps.random);
  let port = 0;
  const isProxy = createIsTrustedProxy(deps.trustedProxies ?? []);
  const connections = new ConnectionGate({
    caps: { ...connectionCaps(descriptorLimit()), ...deps.connectionCaps },
    isClient: (remote) => !isProxy(remote),
    takeCensus: () => takeCensus(port),
    clock,
    log: deps.log,
  });
  const { serving, sockets } = wire(deps, { registry, state, gate, connections });

  const app = deps.tls === undefined ? uws.App() : uws.SSLApp(sslOptions(deps.tls));
  app.filter((res, change) => connections.changed(res, Number(change)));
  for (const spec of deps.sockets) {
    app.ws(spec.path, socketBehavior(sockets, spec));
  }
  app.any('/*', (res, req) => {
    state.openRequests += 1;
    void serveRequest(serving, res, req).finally(() => {
      state.openRequests -= 1;
    });
  });

  let listening: ListeningSocket | undefined;
  let closed = false;
  const stopListening = () => {
    listening?.stop();
    listening = undefined;
  };
  const close = () => {
    if (closed) return;
    closed = true;
    stopListening();
    app.close();
    gate.close();
  };

  return {
    async listen(place) {
      if (deps.sockets.length > 0) {
        await gate.open().catch((err: unknown) => {
          deps.log.warn({ err }, 'sockets are upgraded unshielded, which the library warns of');
        });
      }
      listening = await listenOn(uws, app, place);
      port = listening.port;
      return port;
    },
    async drain(graceMs) {
      state.draining = true;
      stopListening();
      registry.drain();
      const deadline = clock.monotonicMs() + graceMs;
      while (state.openRequests + registry.size > 0 && clock.monotonicMs() < deadline) {
        await sleep(clock, DRAIN_POLL_MS);
      }
      registry.closeAll(DRAINING.code, DRAINING.reason);
      close();
    },
    askAs: createAskAs(serving, state),
    closeAgentSockets: registry.closeAgentSockets,
    get openRequests() {
      return state.openRequests;
    },
    get openSockets() {
      return registry.size;
    },
    async [Symbol.asyncDispose]() {
      close();
    },
  };
}

/** Parts that the server owns. */
type Own = {
  readonly registry: SocketRegistry;
  readonly state: ServerState;
  readonly gate: UpgradeGate;
  readonly connections: ConnectionGate;
};

type ServerState = { readonly draining: boolean; readonly openRequests: number };

/** Builds the dependencies of requests and of upgrades, most of which the two share. */
function wire<R extends AnyRoute, S extends AnySocket>(
  deps: HttpServerDeps<R, S>,
  { registry, state, gate, connections }: Own,
): { readonly serving: ServeDeps; readonly sockets: SocketDeps } {
  const { clock, random, log, services } = deps;
  const limits = { ...DEFAULT_RATE_LIMITS, ...deps.rateLimits };
  const strangers = createStrangerGate(clock, {
    anonymous: limits.anonymousRequests,
    failedCredentials: limits.failedCredentials,
  });
  const signIns = new SignInNetworks();
  const authentication = { ...deps, strangers, signIns };
  const endpoints = endpointsOf(deps.routes, deps.sockets);
  const shared = {
    services,
    clock,
    log,
    tracer: deps.tracer,
    requestId: createRequestIds(random),
    rateGate: createRateGate(
      {
        clock,
        signIns,
        holdsProviderKeys: deps.holdsProviderKeys,
        limiter: deps.rateLimiter ?? createRateLimiter(clock),
        serverLimiter: createRateLimiter(clock),
      },
      limits,
    ),
    metrics: createHttpMetrics(deps.metrics, {
      requests: () => state.openRequests,
      sockets: () => registry.size,
      connections: () => connections.open,
      refusedConnections: () => connections.refused,
    }),
    clientAddress: createClientAddress(deps.trustedProxies ?? []),
    commonHeaders: commonHeaders(deps.advisoryHeaders),
    strangers,
    refusals: deps.refusals,
    isDraining: () => state.draining,
  };
  return {
    sockets: {
      ...shared,
      registry,
      gate,
      connections,
      line: deps.line,
      admitAgent: createAdmitAgent(authentication),
    },
    serving: {
      ...shared,
      privateHeaders: privateHeaders(shared.commonHeaders),
      unknownRoute: createUnknownRoute(endpoints),
      takesTurn: createTurnBudget(HTTP_LIMITS.connection.requestsPerTurn),
      authenticate: createAuthenticate(authentication),
      idempotency: deps.idempotency,
      seeAiTool: deps.seeAiTool,
      router: createRouter(endpoints),
      bodyBudget: new BodyBudget({
        bytes: HTTP_LIMITS.body.bytesInFlight,
        bytesPerCaller: HTTP_LIMITS.body.bytesPerCaller,
      }),
    },
  };
}

function endpointsOf(routes: readonly AnyRoute[], sockets: readonly AnySocket[]): Endpoint[] {
  return [
    ...routes.map((route) => ({
      kind: 'route' as const,
      endsInId: route.endsInId,
      method: route.method,
      path: route.path,
      envelope: route.envelope ?? 'flat',
      route,
    })),
    ...sockets.map((socket) => ({
      kind: 'socket' as const,
      method: 'GET',
      path: socket.path,
      envelope: envelopeOf(socket),
    })),
  ];
}
