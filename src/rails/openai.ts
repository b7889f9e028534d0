import { Pool } from 'undici';
import type { Clock } from '../kernel/clock.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { ChatCall, ChatOutcome, ChatRail } from './chat-rail.ts';
import { failed } from './chat-rail.ts';
import type { Answer } from './collect-answer.ts';
import { AnswerTooLarge, AnswerTooSlow, collectAnswer } from './collect-answer.ts';
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

const DEFAULT_LIMITS: OpenAiRailLimits = {
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

  async function complete(call: ChatCall, signal: AbortSignal): Promise<ChatOutcome> {
    if (inFlight >= limits.inFlight) return failed('busy', 'too many requests in flight', null, 1);
    inFlight++;
    try {
      const body = JSON.stringify({ ...call.body, model: call.model });
      const answer = await collectAnswer(
        pool,
        { path, method: 'POST', headers, body },
        { maxBytes: limits.responseBytes, totalMs: limits.totalMs, clock, signal },
      );
      return outcomeOf(answer);
    } catch (error) {
      return signal.aborted ? { kind: 'aborted' } : failureOf(error);
    } finally {
      inFlight--;
    }
  }

  return { complete, [Symbol.asyncDispose]: () => pool.destroy() };
}

function outcomeOf({ status, headers, body }: Answer): ChatOutcome {
  const contentType = oneHeader(headers['content-type']) ?? 'application/json';
  if (status >= 200 && status < 300) {
    const completion = readCompletion(body);
    if (completion === undefined) return failed('broken', 'not a completion', status);
    return { kind: 'completed', status, body, contentType, ...completion };
  }
  if (status === 429) {
    return failed('rate_limited', 'rate limited', status, seconds(headers['retry-after']));
  }
  if (status < 400 || status >= 500) return failed('broken', `status ${status}`, status);
  return { kind: 'declined', status, body, contentType };
}

/** The codes of undici's errors, as far as they mean that time ran out. */
const TIMEOUTS = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

function failureOf(error: unknown): ChatOutcome {
  if (error instanceof AnswerTooLarge) return failed('oversize', 'the answer is too large');
  if (error instanceof AnswerTooSlow) return failed('timeout', 'the answer took too long');
  const { code = '', message = '' } = error as { code?: string; message?: string };
  return failed(TIMEOUTS.has(code) ? 'timeout' : 'unreachable', code || message);
}

function oneHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Only the seconds form; a date is rare here and not worth a clock. */
function seconds(value: string | string[] | undefined): number | null {
  const text = oneHeader(value);
  return text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : null;
}
