import { Pool } from 'undici';
import type { Clock } from '../kernel/clock.ts';
import { isObject } from '../kernel/json.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { ChatCall, ChatOutcome, ChatRail } from './chat-rail.ts';
import { type ChatStream, RelayedChat, StreamBroken } from './chat-stream.ts';
import type { Answer } from './collect-answer.ts';
import { AnswerTooLarge, AnswerTooSlow, collectAnswer } from './collect-answer.ts';
import { type OpenedAnswer, openAnswer } from './open-answer.ts';
import { type Declined, type Failed, failed, type Outcome } from './outcome.ts';
import { readCompletion } from './read-completion.ts';

export type OpenAiUpstream = {
  /** Up to and including the version: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
};

export type OpenAiRailLimits = {
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
  readonly responseBytes: number;
  readonly connections: number;
  /** Beyond it a call fails at once as `busy`: the pool's own queue has no bound. */
  readonly inFlight: number;
};

export const DEFAULT_LIMITS: OpenAiRailLimits = {
  connectMs: LIMITS.upstreamConnectMs,
  firstByteMs: LIMITS.upstreamFirstByteMs,
  idleMs: LIMITS.upstreamIdleMs,
  totalMs: LIMITS.upstreamTotalMs,
  responseBytes: LIMITS.upstreamResponseBytes,
  connections: LIMITS.upstreamConnections,
  inFlight: LIMITS.upstreamInFlight,
};

/**
 * An upstream that speaks the OpenAI dialect, over its own bounded pool of kept-alive connections.
 * Redirects are never followed: they would carry the credential elsewhere.
 */
export function createOpenAiRail(deps: {
  readonly upstream: OpenAiUpstream;
  readonly clock: Clock;
  readonly limits?: Partial<OpenAiRailLimits>;
}): ChatRail & AsyncDisposable {
  const { clock, upstream } = deps;
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const base = new URL(upstream.baseUrl);
  const path = `${base.pathname.replace(/\/+$/, '')}/chat/completions${base.search}`;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json',
  };
  if (upstream.apiKey !== null) headers.authorization = `Bearer ${upstream.apiKey}`;
  const pool = new Pool(base.origin, {
    connections: limits.connections,
    headersTimeout: limits.firstByteMs,
    bodyTimeout: limits.idleMs,
    connect: { timeout: limits.connectMs },
  });
  let inFlight = 0;

  const boundsFor = (signal: AbortSignal) => ({
    ...{ maxBytes: limits.responseBytes, totalMs: limits.totalMs, clock, signal },
  });
  const request = (body: object) => ({
    ...{ path, method: 'POST' as const, headers, body: JSON.stringify(body) },
  });

  async function complete(call: ChatCall, signal: AbortSignal): Promise<ChatOutcome> {
    if (inFlight >= limits.inFlight) return TOO_BUSY;
    inFlight++;
    try {
      const options = request({ ...call.body, model: call.model });
      return outcomeOf(await collectAnswer(pool, options, boundsFor(signal)));
    } catch (error) {
      return signal.aborted ? { kind: 'aborted' } : failureOf(error);
    } finally {
      inFlight--;
    }
  }

  async function stream(call: ChatCall, signal: AbortSignal): Promise<Outcome<Streaming>> {
    if (inFlight >= limits.inFlight) return TOO_BUSY;
    inFlight++;
    const onOver = () => {
      inFlight--;
    };
    try {
      const options = request(streamedBody(call));
      const answer = await openAnswer(pool, options, { ...boundsFor(signal), onOver });
      return await streamOf(answer, wantsUsage(call.body));
    } catch (error) {
      return signal.aborted ? { kind: 'aborted' } : failureOf(error);
    }
  }

  return { complete, stream, [Symbol.asyncDispose]: () => pool.destroy() };
}

type Streaming = { readonly stream: ChatStream };

export const TOO_BUSY = failed('busy', 'too many requests in flight', null, 1);

const wantsUsage = ({ stream_options: options }: ChatCall['body']): boolean =>
  isObject(options) && options.include_usage === true;

/** Usage is always asked for: it is what is charged. */
const streamedBody = ({ body, model }: ChatCall) => ({
  ...body,
  ...{ model, stream: true },
  stream_options: {
    ...(isObject(body.stream_options) ? body.stream_options : {}),
    include_usage: true,
  },
});

async function streamOf(answer: OpenedAnswer, usage: boolean): Promise<Outcome<Streaming>> {
  const { status, headers } = answer;
  const isStream = oneHeader(headers['content-type'])?.startsWith('text/event-stream') === true;
  if (status === 200 && isStream) {
    const chat = new RelayedChat(answer, usage);
    await chat.begin();
    return { kind: 'completed', status, stream: chat };
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  const outcome = outcomeOf({ status, headers, body: Buffer.concat(chunks) });
  if (outcome.kind === 'completed') return failed('broken', 'not a stream', status);
  return outcome as Exclude<ChatOutcome, { kind: 'completed' }>;
}

function outcomeOf(answer: Answer): ChatOutcome {
  const unserved = unservedOf(answer);
  if (unserved !== undefined) return unserved;
  const { status, body } = answer;
  const completion = readCompletion(body);
  if (completion === undefined) return failed('broken', 'not a completion', status);
  return { kind: 'completed', status, body, contentType: contentTypeOf(answer), ...completion };
}

/** What an answer means that is no success, by its status alone. Undefined: it is one. */
export function unservedOf(answer: Answer): Declined | Failed | undefined {
  const { status, headers, body } = answer;
  if (status >= 200 && status < 300) return undefined;
  if (status === 429) {
    return failed('rate_limited', 'rate limited', status, seconds(headers['retry-after']));
  }
  if (status < 400 || status >= 500) return failed('broken', `status ${status}`, status);
  return { kind: 'declined', status, body, contentType: contentTypeOf(answer) };
}

export const contentTypeOf = ({ headers }: Answer): string =>
  oneHeader(headers['content-type']) ?? 'application/json';

/** The codes of undici's errors, as far as they mean that time ran out. */
const TIMEOUTS = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** What an answer that did not come whole means. */
export function failureOf(error: unknown): Failed {
  if (error instanceof AnswerTooLarge) return failed('oversize', 'the answer is too large');
  if (error instanceof AnswerTooSlow) return failed('timeout', 'the answer took too long');
  if (error instanceof StreamBroken) return failed('broken', error.message, 200);
  const { code = '', message = '' } = error as { code?: string; message?: string };
  return failed(TIMEOUTS.has(code) ? 'timeout' : 'unreachable', code || message);
}

export function oneHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Only the seconds form; a date is rare here and not worth a clock. */
export function seconds(value: string | string[] | undefined): number | null {
  const text = oneHeader(value);
  return text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : null;
}
