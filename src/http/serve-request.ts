import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { BodyTooLarge, SendFailed } from '../egress/send-failed.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { refuse } from '../kernel/refuse.ts';
import { type Answer, type HeaderLine, JSON_TYPE } from './answer.ts';
import { type BodyBudget, type BodyReading, readBody } from './body.ts';
import { type BodyStream, streamBody } from './body-stream.ts';
import type { HttpMetrics } from './http-metrics.ts';
import { preflightHeaders } from './output-headers.ts';
import {
  bodyLimit,
  ClientGoneError,
  type Outcome,
  type PipelineDeps,
  runPipeline,
} from './pipeline.ts';
import { renderError } from './render-error.ts';
import { Reply } from './reply.ts';
import { copyRequest, type IncomingRequest, untilParserIsDone } from './request.ts';
import { type AnyRoute, isStreamed } from './route.ts';
import type { Matched, Router } from './router.ts';

/** A route, or the path of a socket that was asked without an upgrade. */
export type Endpoint =
  | { readonly kind: 'route'; readonly method: string; readonly path: string; route: AnyRoute }
  | { readonly kind: 'socket'; readonly method: string; readonly path: string };

export type ServeDeps = PipelineDeps & {
  readonly router: Router<Endpoint>;
  readonly metrics: HttpMetrics;
  readonly clientAddress: (remote: string, forwardedFor: string | undefined) => string;
  readonly requestId: (sent: string | undefined) => string;
  readonly commonHeaders: readonly HeaderLine[];
  readonly bodyBudget: BodyBudget;
  readonly clock: Clock;
  readonly log: Log;
  readonly isDraining: () => boolean;
};

/** One request from its first byte to its last. */
type Visit = {
  readonly request: IncomingRequest;
  readonly reply: Reply;
  readonly requestId: string;
  readonly found: Found;
  readonly body: BodyReading | BodyStream | undefined;
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
  const reply = new Reply(res, deps.clock);
  let visit: Visit | undefined;
  try {
    visit = begin(deps, res, req, reply);
    const { request, found } = visit;
    if (request.doubledHeader !== undefined) await untilParserIsDone(deps.clock);

    const outcome =
      found.kind === 'route'
        ? await runRoute(deps, visit, found)
        : { answer: answerAtOnce(found, visit.log), earned: [], upstreamMs: 0 };
    await send(deps, visit, outcome);

    deps.metrics.answered({
      method: METHODS.has(request.method) ? request.method : 'OTHER',
      route: found.path,
      status: outcome.answer.status,
      durationMs: deps.clock.monotonicMs() - startedMs,
      upstreamMs: outcome.upstreamMs,
    });
  } catch (thrown) {
    answerFailure(thrown, reply, visit?.log ?? (() => deps.log), deps.commonHeaders);
  } finally {
    visit?.body?.release();
  }
}

/** Everything that must be done before the first await, while the library's memory still stands. */
function begin(deps: ServeDeps, res: HttpResponse, req: HttpRequest, reply: Reply): Visit {
  const request = copyRequest(req);
  const requestId = deps.requestId(request.headers.get('x-request-id'));
  const found = choose(deps.router, request);
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
    body,
    log: () => {
      log ??= deps.log.child({ requestId, route: found.path });
      return log;
    },
  };
}

function runRoute(
  deps: ServeDeps,
  { request, reply, requestId, body, log }: Visit,
  { route, rawParams }: Extract<Found, { kind: 'route' }>,
): Promise<Outcome> {
  return runPipeline(deps, {
    request,
    route,
    rawParams,
    body,
    requestId,
    clientAddress: () =>
      deps.clientAddress(reply.remoteAddress(), request.headers.get('x-forwarded-for')),
    signal: reply.signal,
    log,
  });
}

function send(
  { commonHeaders, isDraining }: ServeDeps,
  { request, reply, requestId, body }: Visit,
  { answer, earned }: Outcome,
): Promise<void> | undefined {
  if (body !== undefined && 'letGo' in body) body.letGo();
  return reply.send(answer, {
    lead: [commonHeaders, [['x-request-id', requestId]], earned],
    headOnly: request.method === 'HEAD',
    closeConnection: isDraining() || request.doubledHeader !== undefined || body?.brokeOff === true,
  });
}

type Found =
  | {
      readonly kind: 'route';
      readonly path: string;
      readonly route: AnyRoute;
      readonly rawParams: Matched<Endpoint>['rawParams'];
    }
  | { readonly kind: 'refusal'; readonly path: string; readonly refusal: Error }
  | { readonly kind: 'preflight'; readonly path: string; readonly headers: Record<string, string> };

/** Everything about a request that its first line and headers decide. */
function choose(router: Router<Endpoint>, request: IncomingRequest): Found {
  const unmatched = { kind: 'refusal', path: 'unmatched' } as const;
  if (request.doubledHeader !== undefined) {
    const detail = { path: [request.doubledHeader], message: 'came twice', code: 'doubled_header' };
    return { ...unmatched, refusal: refuse.request.invalid([detail]) };
  }
  const matched = router.find(request.path);
  if (matched === undefined) return { ...unmatched, refusal: refuse.request.notFound() };

  const { byMethod, rawParams } = matched;
  const endpoint = byMethod.get(request.method === 'HEAD' ? 'GET' : request.method);
  if (endpoint?.kind === 'route') {
    return { kind: 'route', path: endpoint.path, route: endpoint.route, rawParams };
  }
  if (endpoint?.kind === 'socket') {
    return { kind: 'refusal', path: endpoint.path, refusal: refuse.request.upgradeRequired() };
  }
  const allow = allowedMethods(byMethod);
  if (request.method !== 'OPTIONS') {
    return { ...unmatched, refusal: refuse.request.methodNotAllowed(allow) };
  }
  const requested = request.headers.get('access-control-request-headers');
  return { kind: 'preflight', path: 'preflight', headers: preflightHeaders(allow, requested) };
}

function allowedMethods(byMethod: ReadonlyMap<string, Endpoint>): string[] {
  const allow = [...byMethod.keys(), 'OPTIONS'];
  return byMethod.get('GET')?.kind === 'route' ? ['HEAD', ...allow] : allow;
}

function answerAtOnce(found: Exclude<Found, { kind: 'route' }>, log: () => Log): Answer {
  if (found.kind === 'refusal') return renderError(found.refusal, 'flat', log);
  return { status: 200, headers: { 'content-type': JSON_TYPE, ...found.headers }, body: '{}' };
}

const hasBody = ({ method }: IncomingRequest): boolean => method !== 'GET' && method !== 'HEAD';

/** What fails outside the pipeline: a stream that broke, which is no failure of ours, or a bug in the edge itself. */
function answerFailure(
  thrown: unknown,
  reply: Reply,
  log: () => Log,
  commonHeaders: readonly HeaderLine[],
): void {
  if (thrown instanceof ClientGoneError) return;
  // Its head is out already, so that there is nothing left to say.
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
