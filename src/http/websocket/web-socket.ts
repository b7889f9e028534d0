import type {
  HttpRequest,
  HttpResponse,
  us_socket_context_t,
  WebSocket,
  WebSocketBehavior,
} from 'uWebSockets.js';
import type { Log } from '../../kernel/log.ts';
import { abortSignalOf } from '../../kernel/stop-signal.ts';
import type { MessageQueue } from '../../platform/messages/message-queue.ts';
import type { Span } from '../../platform/tracing/span.ts';
import type { RateGate } from '../../rate-limit/rate-gate.ts';
import type { RefusalLog } from '../../reports/refusals/refusal-log.ts';
import { AgentRefused } from '../auth/agent-refused.ts';
import type { createAdmitAgent } from '../auth/authenticate.ts';
import { chooseProtocol, socketCredential } from '../auth/socket-credential.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { decodeQuery, parseShape } from '../pipeline/parse-input.ts';
import { refusalOfCarrier } from '../pipeline/refusal-of-carrier.ts';
import { ReplyWriter } from '../pipeline/reply.ts';
import {
  copyRequest,
  framingRefusal,
  type IncomingRequest,
  untilParserIsDone,
} from '../pipeline/request.ts';
import type { HeaderLine } from '../route/answer.ts';
import { type AgentCaller, CarrierCaller } from '../route/caller.ts';
import { networkOf } from '../route/client-address.ts';
import { requestErrors } from '../route/errors.ts';
import { renderError } from '../route/render-error.ts';
import {
  type AgentSocket,
  type AnySocket,
  type CarrierSocket,
  envelopeOf,
  type SocketHandler,
} from '../route/socket-route.ts';
import type { ConnectionGate } from '../server/connection-gate.ts';
import type { EdgeDeps } from '../server/edge-deps.ts';
import { beginRequest, endAnswered, traceLines } from '../server/request-span.ts';
import type { StrangerGate } from '../server/stranger-gate.ts';
import type { SocketRegistry } from './socket-registry.ts';
import { type SessionOptions, type SocketData, SocketSession } from './socket-session.ts';
import type { UpgradeGate } from './upgrade-gate.ts';

export type SocketDeps = EdgeDeps & {
  readonly services: unknown;
  readonly admitAgent: ReturnType<typeof createAdmitAgent>;
  readonly rateGate: RateGate;
  readonly strangers: Pick<StrangerGate, 'countFailure'>;
  readonly refusals: Pick<RefusalLog, 'note'> | undefined;
  readonly registry: SocketRegistry;
  readonly gate: UpgradeGate;
  readonly connections: ConnectionGate;
  readonly line: MessageQueue;
};

type Handshake = {
  readonly spec: AnySocket;
  readonly request: IncomingRequest;
  readonly reply: ReplyWriter;
  readonly requestId: string;
  readonly clientAddress: string;
  readonly log: Log;
  /** Span of the handshake, parent of the session's span. Undefined: the handshake is not traced. */
  readonly span: Span | undefined;
  readonly context: us_socket_context_t;
  /** Rate headers, added once the handshake's tokens were taken. A later refusal carries them, too. */
  readonly earned: HeaderLine[];
};

/** Returns the library's callbacks and limits for one socket endpoint. */
export function socketBehavior(deps: SocketDeps, spec: AnySocket): WebSocketBehavior<SocketData> {
  return {
    // The bound of this server is lower and closes with a frame; a message beyond the library's bound is cut off without a
    // frame.
    maxPayloadLength: HTTP_LIMITS.socket.hardMessageBytes,
    maxBackpressure: HTTP_LIMITS.socket.backpressureBytes,
    idleTimeout: HTTP_LIMITS.socket.idleSeconds,
    upgrade: (res, req, context) => beginUpgrade(deps, spec, res, req, context),
    open: (ws) => sessionOf(ws).opened(ws),
    message: (ws, data, isBinary) => sessionOf(ws).message(data, isBinary),
    ping: (ws) => sessionOf(ws).controlFrame(),
    pong: (ws) => sessionOf(ws).controlFrame(),
    drain: (ws) => sessionOf(ws).drained(),
    close: (ws, code, reason) => {
      deps.connections.upgradedClosed();
      sessionOf(ws).closed(code, Buffer.from(reason).toString('utf8'));
    },
  };
}

/**
 * Returns the session of a socket. The library lays the members of the user data on the socket itself; its getter leaves
 * JavaScript for each frame.
 */
const sessionOf = (ws: WebSocket<SocketData>): SocketSession =>
  (ws as unknown as SocketData).session;

function beginUpgrade(
  deps: SocketDeps,
  spec: AnySocket,
  res: HttpResponse,
  req: HttpRequest,
  context: us_socket_context_t,
): void {
  const reply = new ReplyWriter(res, deps.clock);
  const request = copyRequest(req);
  const requestId = deps.requestId(request.headers.get('x-request-id'));
  const clientAddress = deps.clientAddress(
    reply.remoteAddress(),
    request.headers.get('x-forwarded-for'),
  );
  const log = deps.log.child({ requestId, route: spec.path });
  const earned: HeaderLine[] = [];
  const { headers } = request;
  const span =
    deps.tracer &&
    beginRequest(deps.tracer, { method: 'GET', route: spec.path, requestId, headers });
  const handshake = { spec, request, reply, requestId, clientAddress, log, span, context, earned };

  upgrade(deps, handshake)
    .catch((thrown: unknown) => {
      if (thrown instanceof AgentRefused)
        deps.refusals?.note({ agentId: thrown.agentId, requestId }, thrown);
      const answer = renderError(thrown, envelopeOf(spec), () => log, requestId);
      deps.metrics.socketRefused(spec.path, answer.status);
      endAnswered(span, answer.status);
      const own = [['x-request-id', requestId]] as const;
      const lead = [deps.commonHeaders, own, traceLines(span), earned];
      return reply.send(answer, { lead, headOnly: false, closeConnection: true });
    })
    .catch((err: unknown) => log.error({ err }, 'an upgrade could not be answered'));
}

/** Upgrades a request to a socket. All refusals happen here, as plain HTTP answers, before the socket is open. */
async function upgrade(deps: SocketDeps, handshake: Handshake): Promise<void> {
  const { spec, request, reply, requestId, log, span } = handshake;
  if (request.framing !== 'length') {
    await untilParserIsDone();
    throw framingRefusal(request) ?? requestErrors.upgradeWithBody();
  }

  if (deps.isDraining()) throw requestErrors.draining();
  if (!isHandshake(request.headers)) throw requestErrors.upgradeRequired();

  const opened =
    spec.credential === 'carrier'
      ? await openForCarrier(deps, handshake, spec)
      : await openForAgent(deps, handshake, spec);
  const protocol = chooseProtocol(spec.protocols, request.headers);
  const session = new SocketSession({
    id: requestId,
    ...opened,
    protocol,
    maxMessageBytes: spec.maxMessageBytes ?? HTTP_LIMITS.socket.messageBytes,
    clock: deps.clock,
    line: deps.line,
    log,
  });
  if (!reply.isOpen) {
    span?.end({ error: 'client_gone' });
    session.closed(1006, 'the client left before the upgrade was done');
    return;
  }
  const { added } = opened;
  deps.gate.pass(() => handOver(handshake, session, { protocol, added }));
}

/** Handler of an opened socket, its seat, and headers for the answer of the upgrade. */
type Opened = Pick<SessionOptions, 'handler' | 'seat' | 'agentId' | 'keyId'> & {
  readonly added: HeaderLine[];
};

async function openForCarrier(
  { registry, strangers }: SocketDeps,
  { clientAddress, log, request, requestId, span }: Handshake,
  spec: CarrierSocket,
): Promise<Opened> {
  const { headers, path, query } = request;
  const url = query === '' ? path : `${path}?${query}`;
  const carrier = new CarrierCaller();
  const believe = () => carrier.believe();
  let handler: SocketHandler;
  try {
    handler = await spec.open({ believe, url, headers, requestId, span, log });
  } catch (refusal) {
    const asked = { route: {}, clientAddress: () => clientAddress };
    throw refusalOfCarrier({ strangers }, asked, carrier, refusal);
  }
  return { handler, seat: registry.admit(), agentId: 0, keyId: 0, added: [] };
}

async function openForAgent(
  deps: SocketDeps,
  handshake: Handshake,
  spec: AgentSocket,
): Promise<Opened> {
  const { clientAddress, request, requestId, span } = handshake;
  const rawQuery = decodeQuery(request.query);
  const counted = {
    route: { ...spec, rateLimit: 'gateway' as const },
    clientAddress: () => clientAddress,
    request,
  };
  const presented = socketCredential(spec, request.headers, rawQuery);
  const { caller } = await deps.admitAgent(demandOf(spec), presented, counted);
  span?.set({ 'svc.agent.id': caller.agentId });
  try {
    return await openAdmitted(deps, handshake, spec, { caller, counted, rawQuery });
  } catch (refusal) {
    deps.refusals?.note({ agentId: caller.agentId, requestId }, refusal);
    throw refusal;
  }
}

type Admitted = {
  readonly caller: AgentCaller;
  /** The handshake, as its limits count it. */
  readonly counted: Parameters<RateGate['admit']>[0];
  readonly rawQuery: ReturnType<typeof decodeQuery>;
};

async function openAdmitted(
  deps: SocketDeps,
  { clientAddress, earned, log, reply, request, requestId, span }: Handshake,
  spec: AgentSocket,
  { caller, counted, rawQuery }: Admitted,
): Promise<Opened> {
  const { headers } = request;
  await deps.rateGate.admit(counted, caller, earned);
  const query = parseShape(spec.query, rawQuery, spec.envelope ?? 'flat');

  const seat = deps.registry.reserve({
    agentId: caller.agentId,
    keyId: caller.keyId,
    address: networkOf(clientAddress),
  });
  const added: HeaderLine[] = [];
  try {
    const { services } = deps;
    const signal = abortSignalOf(reply.signal);
    const handler = await spec.open({
      caller,
      query,
      rawQuery: request.query,
      headers,
      services,
      clientAddress,
      requestId,
      span,
      admit: () => deps.rateGate.admit(counted, caller, []),
      admitPooled: () => deps.rateGate.admitPooled(counted, caller),
      answerWith: (more) => added.push(...Object.entries(more)),
      signal,
      log,
    });
    return { handler, seat, agentId: caller.agentId, keyId: caller.keyId, added };
  } catch (refusal) {
    seat.release();
    throw refusal;
  }
}

/**
 * Returns true for a WebSocket handshake. The library checks the key only, and closes at once a request that also wants to
 * close the connection.
 */
const isHandshake = (headers: ReadonlyMap<string, string>): boolean =>
  headers.get('sec-websocket-version') === '13' &&
  headers.get('upgrade')?.toLowerCase() === 'websocket' &&
  /(^|[\s,])upgrade($|[\s,])/i.test(headers.get('connection') ?? '');

const demandOf = ({ admitsClientSecrets }: AgentSocket) =>
  ({
    credential: 'agent',
    permission: 'read_write',
    admitsClosed: false,
    admitsClientSecrets,
  }) as const;

function handOver(
  { spec, request: { headers }, reply, requestId, span, context }: Handshake,
  session: SocketSession,
  { protocol, added }: { readonly protocol: string | undefined; readonly added: HeaderLine[] },
): void {
  reply.handOver((res) => {
    res.writeStatus('101 Switching Protocols');
    res.writeHeader('x-request-id', requestId);
    const own = spec.credential === 'agent' ? spec.headers?.(requestId) : undefined;
    const lines = [...(own ?? []), ...added, ...traceLines(span)];
    endAnswered(span, 101);
    for (const [name, value] of lines) res.writeHeader(name, value);
    session.readBy(res);
    res.upgrade<SocketData>(
      { session },
      headers.get('sec-websocket-key') ?? '',
      protocol ?? '',
      headers.get('sec-websocket-extensions') ?? '',
      context,
    );
  });
}
