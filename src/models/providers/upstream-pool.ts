import type { Readable } from 'node:stream';
import { Pool } from 'undici';
import type { Clock } from '../../kernel/clock.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import { EGRESS_LIMITS } from '../../platform/egress/limits.ts';
import { MODEL_LIMITS } from '../limits.ts';
import type { ChatMember } from './chat-members.ts';
import type { CallIdFormName } from './fit/call-ids.ts';
import { type OpenedAnswer, openAnswer } from './open-answer.ts';
import { StreamBroken } from './openai/answer-reader.ts';
import {
  AnswerTooLarge,
  AnswerTooSlow,
  type CollectedAnswer,
  collectAnswer,
} from './openai/collect-answer.ts';
import { type Declined, type Failed, failed, type Headed, type Outcome } from './outcome.ts';
import type { PaidCalls } from './paid-calls.ts';
import type { PaymentMethod } from './payment-method.ts';
import { waitOf } from './reset-time.ts';
import { traceHeadersNow } from './upstream-trace.ts';

/** Address of an upstream, its credential and its peculiarities. */
export type Upstream = {
  /** Base URL, including the version: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** Payer of each call. Undefined for an upstream that bills an account of this server. */
  readonly paidCalls?: PaidCalls | undefined;
  readonly capMember?: CapMember | undefined;
  /** True when the upstream has OpenAI's Responses API beside its chat completions. */
  readonly speaksResponses?: boolean | undefined;
  /** Members of a chat that only some vendors accept and this upstream does. */
  readonly chatMembers?: readonly ChatMember[] | undefined;
  readonly thoughts?: TakenThoughts | undefined;
  /** True when the upstream signs the tool calls of its answers, as Google's OpenAI-compatible address does. */
  readonly signsCalls?: boolean | undefined;
  /** Form of call ids that the upstream's chat accepts. Undefined: any text. */
  readonly callIds?: CallIdFormName | undefined;
  readonly strictOrder?: boolean | undefined;
};

/** Member for the cap of a chat's answer at upstreams that refuse the usual `max_tokens`, as OpenAI's newer models do. */
export type CapMember = 'max_completion_tokens';

/**
 * Treatment of a model's thoughts, as `reasoning_content` of the assistant's messages. `taken`: the upstream accepts them back;
 * `demanded`: while a model thinks, it also refuses a message with tool calls that lacks them.
 */
export type TakenThoughts = 'taken' | 'demanded';

export type UpstreamLimits = {
  readonly connectMs: number;
  /** Time limit from the request to the headers of a streamed answer, in milliseconds. */
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
  readonly responseBytes: number;
  /** Upper bound of the received bytes of an answer that its reader has not taken. */
  readonly queueBytes: number;
  readonly connections: number;
  /** Upper bound of concurrent calls. Further calls fail at once as `busy`, because the pool's own queue has no bound. */
  readonly inFlight: number;
};

export const UPSTREAM_LIMITS: UpstreamLimits = {
  connectMs: EGRESS_LIMITS.connectMs,
  firstByteMs: MODEL_LIMITS.upstream.firstByteMs,
  idleMs: MODEL_LIMITS.upstream.idleMs,
  totalMs: MODEL_LIMITS.upstream.totalMs,
  responseBytes: MODEL_LIMITS.upstream.answerBytes,
  queueBytes: MODEL_LIMITS.upstream.streamQueueBytes,
  connections: MODEL_LIMITS.upstream.connections,
  inFlight: MODEL_LIMITS.upstream.inFlight,
};

/** Request with a JSON body, or with bytes and their own headers. */
export type SentRequest = {
  /** HTTP method. Undefined: POST. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Path below the base URL, with its query. Undefined: the path of the pool. */
  readonly path?: string;
  readonly body: string | Uint8Array | Readable | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Payment of a request that is not to be billed to this server's own account. */
  readonly paymentMethod?: PaymentMethod | undefined;
};

/**
 * Sends requests to one upstream. Failures of the upstream are outcomes and not rejections, and only successful answers reach
 * `read`.
 */
export interface UpstreamPool extends AsyncDisposable {
  /** Sends one request and reads its whole answer. */
  whole<T>(
    sent: () => SentRequest,
    signal: StopSignal,
    read: (answer: CollectedAnswer) => Outcome<T> | Promise<Outcome<T>>,
  ): Promise<Outcome<T>>;
  /**
   * Sends one request and reads its answer as it comes. `read` may wait for the beginning; an error that it throws is a failure
   * of the upstream.
   */
  opened<T>(
    sent: () => SentRequest,
    signal: StopSignal,
    read: (answer: OpenedAnswer) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>>;
}

/**
 * Creates a bounded pool of kept-alive connections to one address of an upstream. Redirects are not followed, because they
 * would send the credential elsewhere.
 */
export function createUpstreamPool(deps: {
  readonly upstream: Upstream;
  /** Path below the base URL, such as `/chat/completions`. */
  readonly path: string;
  /** Headers that carry a credential at the upstream. */
  readonly credential: (apiKey: string) => Readonly<Record<string, string>>;
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly limits?: Partial<UpstreamLimits> | undefined;
}): UpstreamPool {
  const { clock, credential, upstream } = deps;
  const limits = { ...UPSTREAM_LIMITS, ...deps.limits };
  const url = urlBelow(upstream.baseUrl, deps.path);
  const path = url.pathname + url.search;
  const unopened = { ...COMMON_HEADERS, ...deps.headers };
  const headers = { ...unopened, ...(upstream.apiKey !== null && credential(upstream.apiKey)) };
  const pool = new Pool(url.origin, {
    connections: limits.connections,
    bodyTimeout: limits.idleMs,
    connect: { timeout: limits.connectMs },
  });
  let inFlight = 0;
  const free = () => {
    inFlight--;
  };

  async function ask<T>(
    sent: () => SentRequest,
    signal: StopSignal,
    headersTimeout: number,
    send: (options: Options, bounds: Bounds) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    if (inFlight >= limits.inFlight) return TOO_BUSY;
    const request = writeSent(sent);
    if (request === undefined) return TOO_DEEP;
    inFlight++;
    const { responseBytes: maxBytes, queueBytes, totalMs } = limits;
    const { body, method = 'POST', paymentMethod } = request;
    const ownKey = paymentMethod?.ownKey;
    const opened = ownKey === undefined ? headers : { ...unopened, ...credential(ownKey) };
    const added = traceHeadersNow();
    const all =
      request.headers === undefined && added === undefined
        ? opened
        : { ...opened, ...added, ...request.headers };
    try {
      const way = request.path === undefined ? path : pathBelow(upstream.baseUrl, request.path);
      const options = { path: way, method, headers: all, body, headersTimeout };
      const outcome = await send(options, { maxBytes, queueBytes, totalMs, clock, signal });
      return outcome.kind === 'declined' ? withoutKey(outcome, ownKey ?? upstream.apiKey) : outcome;
    } catch (error) {
      return signal.aborted ? { kind: 'aborted' } : failureOf(error);
    }
  }

  return {
    // The headers of an answer that is not streamed arrive after the model has finished, which may take minutes.
    whole: (sent, signal, read) =>
      ask(sent, signal, limits.totalMs, async (options, bounds) => {
        const answer = await collectAnswer(pool, options, bounds).finally(free);
        return headed(unservedOf(answer, clock.now()) ?? (await read(answer)), answer);
      }),
    opened: (sent, signal, read) =>
      ask(sent, signal, limits.firstByteMs, async (options, bounds) => {
        const answer = await openAnswer(pool, options, { ...bounds, onOver: free });
        const outcome = isSuccess(answer) ? read(answer) : refusalOf(answer, clock.now());
        return headed(await outcome, answer);
      }),
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}

/** Default headers of every request. */
export const COMMON_HEADERS = { 'content-type': 'application/json', accept: 'application/json' };

/** Returns the URL of a path below a base. The base may end in a slash and have a query. */
export function urlBelow(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  return url;
}

/** Returns the path and query below a base, with the query of `below` after the base's query. */
function pathBelow(baseUrl: string, below: string): string {
  const at = below.indexOf('?');
  const url = urlBelow(baseUrl, at === -1 ? below : below.slice(0, at));
  if (at === -1) return url.pathname + url.search;
  return `${url.pathname}${url.search === '' ? '?' : `${url.search}&`}${below.slice(at + 1)}`;
}

type Options = Parameters<typeof collectAnswer>[1];
type Bounds = Parameters<typeof collectAnswer>[2] & { readonly queueBytes: number };

/** Removes the credential from a refusal: some upstreams quote it in their error. */
function withoutKey(refusal: Declined, key: string | null): Declined {
  if (key === null || key === '' || !Buffer.from(refusal.body).includes(key)) return refusal;
  const body = Buffer.from(refusal.body).toString('latin1').replaceAll(key, '***');
  return { ...refusal, body: Buffer.from(body, 'latin1') };
}

const TOO_BUSY = failed('busy', 'too many requests in flight', null, 1);
export const TOO_DEEP = { kind: 'unfit', detail: 'The request is nested too deeply.' } as const;

/**
 * Writes a request. Undefined when its JSON is nested too deeply: `JSON.stringify` throws where `JSON.parse` does not. The
 * caller causes this, so it must not count as the upstream's failure.
 */
export function writeSent(sent: () => SentRequest): SentRequest | undefined {
  try {
    return sent();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Adds the headers of an answer to its outcome. It changes the outcome itself, because a copy costs microseconds. */
const headed = <T>(outcome: Outcome<T>, { headers }: Headed): Outcome<T> =>
  Object.assign(outcome, { headers });

export const isSuccess = ({ status }: { readonly status: number }): boolean =>
  status >= 200 && status < 300;

/** Maps an answer without success to a failure, by its status alone. Undefined: a success. */
export function unservedOf(answer: CollectedAnswer, nowMs: number): Declined | Failed | undefined {
  const { status, headers, body } = answer;
  if (isSuccess(answer)) return undefined;
  const { seconds, ms } = waitOf(headers, nowMs);
  if (status === 429) return failed('rate_limited', 'rate limited', status, seconds, ms);
  // Status 408: the upstream did not get the whole request in time. The request itself may be valid.
  if (status === 408) return failed('timeout', 'the upstream timed out', status, seconds, ms);
  if (status < 400 || status >= 500) {
    return failed('broken', `status ${status}`, status, seconds, ms);
  }
  return { kind: 'declined', status, body, contentType: contentTypeOf(answer) };
}

const NO_BODY = Buffer.alloc(0);

/** Reads a refusal of an upstream, up to the byte limit of all answers, and returns the parts that are relayed. */
export async function refusalOf(answer: OpenedAnswer, nowMs: number): Promise<Outcome<never>> {
  const { status, headers, body, stop } = answer;
  const unread = unservedOf({ status, headers, body: NO_BODY }, nowMs);
  if (unread?.kind !== 'declined') {
    stop();
    return unread ?? failed('broken', `status ${status}`, status);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    // Returning from the loop aborts the request.
    if (bytes > MODEL_LIMITS.upstream.answerBytes)
      return failed('oversize', 'the answer is too large');
    chunks.push(chunk);
  }
  return { ...unread, body: Buffer.concat(chunks, bytes) };
}

/** Returns the media type of an answer; `application/json` when the upstream named none. */
export const contentTypeOf = ({ headers }: Pick<CollectedAnswer, 'headers'>): string => {
  const value = headers['content-type'];
  return (Array.isArray(value) ? value[0] : value) ?? 'application/json';
};

/** Codes of undici's errors that mean a timeout. */
const TIMEOUTS = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** Maps the error of an answer that broke off to a failure. */
function failureOf(error: unknown): Failed {
  if (error instanceof AnswerTooLarge) return failed('oversize', 'the answer is too large');
  if (error instanceof AnswerTooSlow) return failed('timeout', 'the answer took too long');
  if (error instanceof StreamBroken) return failed('broken', error.message, 200);
  const { code = '', message = '' } = error as { code?: string; message?: string };
  return failed(TIMEOUTS.has(code) ? 'timeout' : 'unreachable', code || message);
}
