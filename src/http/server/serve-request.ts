import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Log } from '../../kernel/log.ts';
import { BodyTooLarge, SendFailed } from '../../platform/egress/send-failed.ts';
import type { Span } from '../../platform/tracing/span.ts';
import { isProbe } from '../../rate-limit/server-shares.ts';
import { type BodyReading, readBody } from '../body/body.ts';
import type { BodyBudget } from '../body/body-budget.ts';
import { type BodyStream, streamBody } from '../body/body-stream.ts';
import { preflightHeaders } from '../pipeline/output-headers.ts';
import { bodyLimit, ClientGoneError } from '../pipeline/parse-body.ts';
import { type PipelineDeps, type PipelineOutcome, runPipeline } from '../pipeline/pipeline.ts';
import { ReplyWriter } from '../pipeline/reply.ts';
import {
  copyRequest,
  framingRefusal,
  type IncomingRequest,
  untilParserIsDone,
} from '../pipeline/request.ts';
import { type HeaderLine, type HttpAnswer, JSON_TYPE } from '../route/answer.ts';
import { requestErrors } from '../route/errors.ts';
import { inDialect } from '../route/in-dialect.ts';
import { type Envelope, renderError } from '../route/render-error.ts';
import { type AnyRoute, isStreamed } from '../route/route.ts';
import type { EdgeDeps } from './edge-deps.ts';
import { beginRequest, endAnswered, traceLines } from './request-span.ts';
import type { Matched, Router } from './router.ts';
import type { StrangerGate } from './stranger-gate.ts';
import type { UnknownRoute } from './unknown-route.ts';

/** A route, or the path of a socket that was requested without an upgrade. */
export type Endpoint =
  | (Place & {
      readonly kind: 'route';
      readonly route: AnyRoute;
      readonly endsInId?: boolean | undefined;
    })
  | (Place & { readonly kind: 'socket' });

type Place = { readonly method: string; readonly path: string; readonly envelope: Envelope };

export type ServeDeps = PipelineDeps &
  EdgeDeps & {
    readonly router: Router<Endpoint>;
    readonly unknownRoute: (method: string, path: string) => UnknownRoute;
    readonly strangers: StrangerGate;
    /** Counts a request of this turn of the event loop. Returns false for a request beyond the bound of a turn. */
    readonly takesTurn: () => boolean;
    readonly bodyBudget: BodyBudget;
    /** Headers of `commonHeaders` for answers to requests with a credential. */
    readonly privateHeaders: readonly HeaderLine[];
  };

/** State of one request, from its first byte to the last byte of its answer. */
type Visit = {
  readonly request: IncomingRequest;
  readonly reply: ReplyWriter;
  readonly requestId: string;
  readonly found: Found;
  /** Undefined when the request is not traced. */
  readonly span: Span | undefined;
  readonly body: BodyReading | BodyStream | undefined;
  /** Callbacks to run when the request is over. */
  readonly whenOver: (() => void)[];
  readonly log: () => Log;
};

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Serves one request. Never throws and never rejects. */
export async function serveRequest(
  deps: ServeDeps,
  res: HttpResponse,
  req: HttpRequest,
): Promise<void> {
  const startedMs = deps.clock.monotonicMs();
  const reply = new ReplyWriter(res, deps.clock);
  let visit: Visit | undefined;
  try {
    visit = begin(deps, res, req, reply);
    const { request, found } = visit;
    // A request beyond the turn's budget, or not framed by one length, waits until the parser has finished the packet.
    if (!deps.takesTurn() || request.framing !== 'length') await untilParserIsDone();

    const outcome =
      found.kind === 'route'
        ? await runRoute(deps, visit, found)
        : { answer: answerAtOnce(deps, visit, found), earned: [], upstreamMs: 0 };
    await send(deps, visit, outcome);

    endAnswered(visit.span, outcome.answer.status);
    deps.metrics.answered({
      method: METHODS.has(request.method) ? request.method : 'OTHER',
      route: found.path,
      status: outcome.answer.status,
      durationMs: deps.clock.monotonicMs() - startedMs,
      upstreamMs: outcome.upstreamMs,
    });
  } catch (thrown) {
    visit?.span?.end({ error: thrown instanceof ClientGoneError ? 'client_gone' : 'broken_off' });
    answerFailure(thrown, reply, visit?.log ?? (() => deps.log), deps.commonHeaders);
  } finally {
    visit?.body?.release();
    for (const callback of visit?.whenOver ?? []) callback();
  }
}

/** Does all work that must be done before the first await, while the library's memory is still valid. */
function begin(deps: ServeDeps, res: HttpResponse, req: HttpRequest, reply: ReplyWriter): Visit {
  const request = copyRequest(req);
  const requestId = deps.requestId(request.headers.get('x-request-id'));
  const found = choose(deps, request);
  let body: BodyReading | BodyStream | undefined;
  if (found.kind === 'route' && found.route.body !== undefined && hasBody(request)) {
    const read = isStreamed(found.route.body) ? streamBody : readBody;
    body = read(res, {
      limitBytes: bodyLimit(found.route),
      budget: deps.bodyBudget,
      onGone: (callback) => reply.onGone(callback),
    });
  }
  let log: Log | undefined;
  return {
    request,
    reply,
    requestId,
    found,
    span: beginSpan(deps, request, requestId, found),
    body,
    whenOver: [],
    log: () => {
      log ??= deps.log.child({ requestId, route: found.path });
      return log;
    },
  };
}

function runRoute(
  deps: ServeDeps,
  visit: Visit,
  { route, rawParams }: Extract<Found, { kind: 'route' }>,
): Promise<PipelineOutcome> {
  const { request, reply, requestId, span, body, whenOver, log } = visit;
  return runPipeline(deps, {
    request,
    route,
    rawParams,
    body,
    requestId,
    span,
    clientAddress: () => clientOf(deps, visit),
    signal: reply.signal,
    onOver: (callback) => void whenOver.push(callback),
    log,
  });
}

const clientOf = ({ clientAddress }: ServeDeps, { reply, request }: Visit): string =>
  clientAddress(reply.remoteAddress(), request.headers.get('x-forwarded-for'));

function send(
  deps: ServeDeps,
  { request, reply, requestId, found, span, body }: Visit,
  { answer, earned }: PipelineOutcome,
): Promise<void> | undefined {
  body?.letGo();
  return reply.send(answer, {
    lead: [
      leadOf(deps, found, answer),
      [['x-request-id', answer.requestId ?? requestId]],
      traceLines(span),
      earned,
    ],
    headOnly: request.method === 'HEAD',
    closeConnection: deps.isDraining() || request.framing !== 'length' || body?.brokeOff === true,
  });
}

/** Returns the common headers of an answer. Caches must not store an answer to a credential, which may be a key. */
function leadOf(
  { commonHeaders, privateHeaders }: ServeDeps,
  found: Found,
  { headers }: HttpAnswer,
): readonly HeaderLine[] {
  const isPublic = found.kind !== 'route' || found.route.credential === 'none';
  return isPublic || headers['cache-control'] !== undefined ? commonHeaders : privateHeaders;
}

type Found =
  | {
      readonly kind: 'route';
      readonly path: string;
      readonly route: AnyRoute;
      readonly rawParams: Matched<Endpoint>['rawParams'];
    }
  | ({ readonly kind: 'refusal'; readonly path: string } & Refused)
  | { readonly kind: 'preflight'; readonly path: string; readonly headers: Record<string, string> };

/** Refusal that is made only when it is sent: the search for the nearest route is work. */
type Refused = { readonly refusal: () => Error; readonly envelope: Envelope };

/** Begins the span of a request. Probes and requests without a route are not traced: anyone may send any number of them. */
function beginSpan(
  { tracer }: ServeDeps,
  { headers, method }: IncomingRequest,
  requestId: string,
  found: Found,
): Span | undefined {
  if (tracer === undefined || found.kind !== 'route' || isProbe(found.path)) return undefined;
  return beginRequest(tracer, { method, route: found.path, requestId, headers });
}

/** Returns all facts about a request that its first line and headers decide. */
function choose({ router, unknownRoute }: ServeDeps, request: IncomingRequest): Found {
  const unmatched = { kind: 'refusal', path: 'unmatched', envelope: 'flat' } as const;
  const misframed = framingRefusal(request);
  if (misframed !== undefined) return { ...unmatched, refusal: () => misframed };

  const matched = router.find(request.path);
  if (matched === undefined) {
    // A browser gives its page the 404 only if the preflight before it succeeds.
    if (isPreflight(request)) return preflight(request, ANY_METHOD);
    return { ...unmatched, ...unknownRoute(request.method, request.path) };
  }

  const { byMethod, rawParams } = matched;
  const endpoint = byMethod.get(request.method === 'HEAD' ? 'GET' : request.method);
  if (endpoint?.kind === 'route') {
    const route = inDialect(endpoint.route, request.headers);
    return { kind: 'route', path: endpoint.path, route, rawParams };
  }
  if (endpoint?.kind === 'socket') {
    const { path, envelope } = endpoint;
    return { kind: 'refusal', path, refusal: () => requestErrors.upgradeRequired(), envelope };
  }
  const allow = allowedMethods(byMethod);
  if (request.method !== 'OPTIONS') {
    const [{ envelope } = unmatched] = byMethod.values();
    return { ...unmatched, refusal: () => requestErrors.methodNotAllowed(allow), envelope };
  }
  return preflight(request, allow);
}

const ANY_METHOD = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const isPreflight = ({ method, headers }: IncomingRequest): boolean =>
  method === 'OPTIONS' && headers.has('access-control-request-method');

function preflight({ headers }: IncomingRequest, allow: readonly string[]): Found {
  const requested = headers.get('access-control-request-headers');
  return { kind: 'preflight', path: 'preflight', headers: preflightHeaders(allow, requested) };
}

function allowedMethods(byMethod: ReadonlyMap<string, Endpoint>): string[] {
  const allow = [...byMethod.keys(), 'OPTIONS'];
  return byMethod.get('GET')?.kind === 'route' ? ['HEAD', ...allow] : allow;
}

function answerAtOnce(
  deps: ServeDeps,
  visit: Visit,
  found: Exclude<Found, { kind: 'route' }>,
): HttpAnswer {
  const envelope = found.kind === 'refusal' ? found.envelope : 'flat';
  try {
    deps.strangers.admitAnonymous({
      route: { envelope },
      clientAddress: () => clientOf(deps, visit),
    });
  } catch (refusal) {
    return renderError(refusal, envelope, visit.log, visit.requestId);
  }
  if (found.kind === 'refusal') {
    return renderError(found.refusal(), envelope, visit.log, visit.requestId);
  }
  return { status: 200, headers: { 'content-type': JSON_TYPE, ...found.headers }, body: '{}' };
}

const hasBody = ({ method }: IncomingRequest): boolean => method !== 'GET' && method !== 'HEAD';

/** Answers a failure outside the pipeline: a broken stream, which is no failure of this server, or a bug in the edge. */
function answerFailure(
  thrown: unknown,
  reply: ReplyWriter,
  log: () => Log,
  commonHeaders: readonly HeaderLine[],
): void {
  if (thrown instanceof ClientGoneError) return;
  // The response headers were sent, so no refusal can follow.
  if (thrown instanceof SendFailed || thrown instanceof BodyTooLarge) {
    log().info({ why: thrown.message }, 'a vendor broke its answer off');
    return;
  }
  const answer = renderError(thrown, 'flat', log);
  try {
    void reply.send(answer, { lead: [commonHeaders], headOnly: false, closeConnection: true });
  } catch (err) {
    log().error({ err }, 'a request could not be answered');
  }
}
