import type {
  FreshWork,
  IdempotencyStore,
  IdempotencyVerdict,
} from '../../idempotency/idempotency.ts';
import { IDEMPOTENCY_LIMITS } from '../../idempotency/limits.ts';
import { ApiError } from '../../kernel/api-error.ts';
import type { Log } from '../../kernel/log.ts';
import { NO_RETRY } from '../../kernel/refusal.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Attributes, Span } from '../../platform/tracing/span.ts';
import type { RateGate } from '../../rate-limit/rate-gate.ts';
import { isProbe } from '../../rate-limit/server-shares.ts';
import type { RefusalLog } from '../../reports/refusals/refusal-log.ts';
import { AgentRefused } from '../auth/agent-refused.ts';
import type { Authenticate, Demand } from '../auth/authenticate.ts';
import type { HeaderLine, HttpAnswer } from '../route/answer.ts';
import type { Caller } from '../route/caller.ts';
import { networkOf } from '../route/client-address.ts';
import { requestErrors } from '../route/errors.ts';
import { renderError } from '../route/render-error.ts';
import {
  type AnyRoute,
  type AskRoute,
  type Context,
  permissionOf,
  type RouteReply,
  rightOf,
} from '../route/route.ts';
import type { StrangerGate } from '../server/stranger-gate.ts';
import { isOfAiTool } from './ai-tool.ts';
import type { Exchange } from './exchange.ts';
import { exchangeWithin } from './exchange-within.ts';
import { ClientGoneError, parseBody } from './parse-body.ts';
import { decodeParams, decodeQuery, parseShape, refuseInput } from './parse-input.ts';
import { refusalOfCarrier } from './refusal-of-carrier.ts';
import { renderReply } from './render-reply.ts';

export type PipelineDeps = {
  readonly services: unknown;
  readonly authenticate: Authenticate;
  readonly rateGate: RateGate;
  readonly strangers: Pick<StrangerGate, 'countFailure'>;
  readonly idempotency: IdempotencyStore | undefined;
  /** Record of the agents' refusals and failed calls. Undefined: none is kept. */
  readonly refusals: Pick<RefusalLog, 'note'> | undefined;
  /** Called when a tool for AI clients acts for an account. */
  readonly seeAiTool?: ((accountId: string) => void) | undefined;
};

export type PipelineOutcome = {
  readonly answer: HttpAnswer;
  /** Headers that were earned on the way, whether the request succeeded or was refused. */
  readonly earned: readonly HeaderLine[];
  readonly upstreamMs: number;
};

/** Returns the demands of a route, with the defaults that its verb and credential imply. */
const demandOf = (route: AnyRoute): Demand => ({
  credential: route.credential,
  permission: permissionOf(route),
  right: rightOf(route),
  admitsClosed: route.admitsClosed ?? false,
  isProbe: isProbe(route.path),
  keyHeader: route.keyHeader,
  admitsExpired: route.admitsExpired ?? false,
  admitsClientSecrets: route.admitsClientSecrets,
  acceptsTokenScheme: route.acceptsTokenScheme ?? false,
});

/**
 * Serves every request in one order: credential → idempotency lookup → rate limit → parse → handle → store answer → render.
 * Refusals keep the headers that were earned on the way.
 */
export async function runPipeline(
  deps: PipelineDeps,
  exchange: Exchange,
): Promise<PipelineOutcome> {
  const { route } = exchange;
  const earned: HeaderLine[] = [];
  let reserved: FreshWork | undefined;
  let admitted = false;
  let caller: Caller | undefined;
  try {
    const { rateGate } = deps;
    const found = deps.authenticate(demandOf(route), exchange);
    const authenticated = found instanceof Promise ? await found : found;
    if (authenticated.setCookie !== undefined) {
      earned.push(['set-cookie', authenticated.setCookie]);
    }

    const known = authenticated.caller;
    caller = known;
    if (isOfAiTool(exchange) && 'accountId' in known) deps.seeAiTool?.(known.accountId);
    exchange.span?.set(callerAttributes(known));
    exchange.body?.belongsTo(holderOf(known, exchange));
    const begun = beginIdempotent(deps, exchange, known);
    const verdict = begun === undefined ? undefined : await begun;
    if (verdict?.kind === 'replay') return { answer: verdict.answer, earned, upstreamMs: 0 };
    reserved = verdict;

    const limited = rateGate.admit(exchange, known, earned);
    if (limited !== undefined) await limited;
    admitted = true;

    const admitPooled = () => {
      // Nothing is held under the key yet: a refusal here is like a refusal at the rate limit, and is not stored.
      admitted = false;
      const limited = rateGate.admitPooled(exchange, known);
      admitted = limited === undefined;
      return limited?.then(() => {
        admitted = true;
      });
    };
    const reply = await handle(deps, exchange, {
      caller: known,
      workId: reserved?.workId,
      admitPooled,
    });
    const rendered = renderReply(reply);
    const isKept = route.keepsRefusals === true || reply.headers['x-should-retry'] !== 'true';
    if (!isKept) await reserved?.abandon();
    const answer =
      reserved !== undefined && isKept ? await reserved.store(kept(rendered, exchange)) : rendered;
    return { answer, earned, upstreamMs: reply.upstreamMs ?? 0 };
  } catch (thrown) {
    const isGone = thrown instanceof ClientGoneError;
    // A refusal that asks the client to retry is not stored under the key, or the retry would get it again. Nor is the refusal
    // of a client that left before anything was paid: the client's retry is a first attempt.
    const mayPass = mayRetry(thrown) && route.keepsRefusals !== true;
    const isKept = admitted && !isGone && !isClientClosed(thrown) && !mayPass;
    if (!isKept) await reserved?.abandon();
    if (isGone) throw thrown;
    noteRefusal(deps, exchange, caller, thrown);

    const refused =
      caller?.kind === 'carrier' ? refusalOfCarrier(deps, exchange, caller, thrown) : thrown;
    const { log, requestId } = exchange;
    const refusal = renderError(refused, route.envelope ?? 'flat', log, requestId);
    const answer =
      reserved !== undefined && isKept ? await reserved.store(kept(refusal, exchange)) : refusal;
    return { answer, earned, upstreamMs: 0 };
  }
}

/**
 * Returns the answer as it is stored. Every retry under the key gets this answer, with its request id; a stored refusal asks
 * the SDK not to retry.
 */
function kept(answer: HttpAnswer, { requestId }: Exchange): HttpAnswer {
  const { headers } = answer;
  return headers['x-should-retry'] === 'true'
    ? { ...answer, headers: { ...headers, ...NO_RETRY }, requestId }
    : { ...answer, requestId };
}

/** Returns the name under which the body's bytes are counted. */
function holderOf(caller: Caller, { clientAddress }: Exchange): string {
  if (caller.kind === 'agent') return `agent ${caller.agentId}`;
  if (caller.kind === 'developer') return `developer ${caller.accountId} ${caller.wallet}`;
  return caller.kind === 'admin' ? 'admin' : networkOf(clientAddress());
}

/** Returns the span's attributes of a caller, without the credential. */
function callerAttributes(caller: Caller): Attributes {
  if (caller.kind === 'agent') return { 'svc.agent.id': caller.agentId };
  return caller.kind === 'developer' ? { 'svc.account.id': caller.accountId } : {};
}

/** Printable ASCII. The socket library reads all bytes beyond ASCII as one and the same: two keys would be one. */
const PLAIN_KEY = /^[\x20-\x7e]+$/;

/** Notes the refusal of an agent's request. The refusal of an agent that was not admitted names the agent itself. */
function noteRefusal(
  { refusals }: PipelineDeps,
  { requestId }: Exchange,
  caller: Caller | undefined,
  thrown: unknown,
): void {
  const known = caller?.kind === 'agent' ? caller.agentId : undefined;
  const agentId = thrown instanceof AgentRefused ? thrown.agentId : known;
  if (agentId !== undefined) refusals?.note({ agentId, requestId }, thrown);
}

const isClientClosed = (thrown: unknown): boolean =>
  thrown instanceof ApiError && thrown.status === requestErrors.clientClosed().status;

/** Returns true when nothing was charged, so that a second attempt under the same key counts as the first. */
const mayRetry = (thrown: unknown): boolean =>
  thrown instanceof ApiError && thrown.headers['x-should-retry'] === 'true';

function beginIdempotent(
  { idempotency, services }: PipelineDeps,
  { route, request, requestId, log, workId }: Exchange,
  caller: Caller,
): Promise<IdempotencyVerdict> | undefined {
  const key = request.headers.get('idempotency-key');
  if (route.idempotent !== true || key === undefined || idempotency === undefined) return undefined;
  if (caller.kind !== 'agent' && caller.kind !== 'developer') return undefined;
  if (!PLAIN_KEY.test(key) || key.length > IDEMPOTENCY_LIMITS.keyChars) {
    throw refuseInput(
      [
        {
          path: ['Idempotency-Key'],
          message: `must have 1 to ${IDEMPOTENCY_LIMITS.keyChars} printable ASCII characters`,
          code: 'invalid_idempotency_key',
        },
      ],
      route.envelope ?? 'flat',
    );
  }
  const { method, path } = request;
  const render = (refusal: ApiError) =>
    renderError(refusal, route.envelope ?? 'flat', log, requestId);
  const recall = async (workId: string) => {
    const left = await route.recall?.({ caller, services, workId });
    return left && renderReply(left);
  };
  return idempotency.begin({ caller, key, method, path, workId, render, recall });
}

async function handle(deps: PipelineDeps, exchange: Exchange, given: Given): Promise<RouteReply> {
  const { route, request, rawParams } = exchange;
  const envelope = route.envelope ?? 'flat';
  const params = parseShape(route.params, decodeParams(rawParams, envelope), envelope);
  const query =
    route.query === undefined
      ? undefined
      : parseShape(route.query, decodeQuery(request.query), envelope);
  const body = await parseBody(exchange);

  return route.handle(new RequestContext(deps, exchange, given, { params, query, body }));
}

type Given = {
  readonly caller: Caller;
  readonly workId: string | undefined;
  readonly admitPooled: () => Promise<void> | undefined;
};

/** A class, because a literal with getters is a dictionary of several kilobytes for every request. */
// biome-ignore lint/suspicious/noExplicitAny: the route's own type arguments are erased here.
class RequestContext implements Context<any, any, any, any, any> {
  readonly #deps: PipelineDeps;
  readonly #exchange: Exchange;
  readonly caller: Caller;
  readonly workId: string | undefined;
  readonly admitPooled: () => Promise<void> | undefined;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly services: unknown;
  readonly headers: ReadonlyMap<string, string>;
  readonly requestId: string;
  readonly span: Span | undefined;
  readonly signal: StopSignal;
  readonly onOver: (callback: () => void) => void;

  constructor(
    deps: PipelineDeps,
    exchange: Exchange,
    given: Given,
    parsed: { readonly params: unknown; readonly query: unknown; readonly body: unknown },
  ) {
    this.#deps = deps;
    this.#exchange = exchange;
    this.caller = given.caller;
    this.workId = given.workId;
    this.admitPooled = given.admitPooled;
    this.params = parsed.params;
    this.query = parsed.query;
    this.body = parsed.body;
    this.services = deps.services;
    this.headers = exchange.request.headers;
    this.requestId = exchange.requestId;
    this.span = exchange.span;
    this.signal = exchange.signal;
    this.onOver = exchange.onOver;
  }

  get url(): string {
    const { path, query } = this.#exchange.request;
    return query === '' ? path : `${path}?${query}`;
  }

  get clientAddress(): string {
    return this.#exchange.clientAddress();
  }

  get log(): Log {
    return this.#exchange.log();
  }

  get ask(): AskRoute {
    return (call) => runPipeline(this.#deps, exchangeWithin(this.#exchange, call));
  }
}
