import { Readable } from 'node:stream';
import { Pool } from 'undici';
import type { Clock } from '../kernel/clock.ts';
import { LIMITS } from '../kernel/limits.ts';
import { StreamBroken } from './chat-stream.ts';
import { type Answer, AnswerTooLarge, AnswerTooSlow, collectAnswer } from './collect-answer.ts';
import { type OpenedAnswer, openAnswer } from './open-answer.ts';
import type { OpenAiRailLimits } from './openai.ts';
import { type Declined, type Failed, failed } from './outcome.ts';

/** A request in pieces. */
export type UpstreamRequest = {
  readonly contentType: string;
  readonly length: number;
  readonly pieces: readonly Buffer[];
};

type Unanswered = Failed | { readonly kind: 'aborted' };

export interface UpstreamCalls extends AsyncDisposable {
  /** Sends one request and reads its whole answer. Never rejects for what an upstream does. */
  whole(request: UpstreamRequest, signal: AbortSignal): Promise<Answer | Unanswered>;
  /** The same, to be read while it comes. `read` may wait for its beginning, and what it throws is a failure. */
  opened<T>(
    request: UpstreamRequest,
    signal: AbortSignal,
    read: (answer: OpenedAnswer) => Promise<T>,
  ): Promise<T | Unanswered>;
}

/**
 * One address of an upstream, over a bounded pool of kept-alive connections. Redirects are never followed: they would
 * carry the credential elsewhere.
 */
export function createUpstreamCalls(deps: {
  readonly upstream: { readonly baseUrl: string; readonly apiKey: string | null };
  /** Below the base, such as `/audio/transcriptions`. */
  readonly path: string;
  readonly clock: Clock;
  readonly limits?: Partial<OpenAiRailLimits> | undefined;
}): UpstreamCalls {
  const { clock, limits = {}, upstream } = deps;
  const base = new URL(upstream.baseUrl);
  const path = base.pathname.replace(/\/+$/, '') + deps.path + base.search;
  const credential = upstream.apiKey === null ? {} : { authorization: `Bearer ${upstream.apiKey}` };
  const pool = new Pool(base.origin, {
    connections: limits.connections ?? LIMITS.upstreamConnections,
    headersTimeout: limits.firstByteMs ?? LIMITS.upstreamFirstByteMs,
    bodyTimeout: limits.idleMs ?? LIMITS.upstreamIdleMs,
    connect: { timeout: limits.connectMs ?? LIMITS.upstreamConnectMs },
  });
  const most = limits.inFlight ?? LIMITS.upstreamInFlight;
  let inFlight = 0;

  const bounds = (signal: AbortSignal) => ({
    maxBytes: limits.responseBytes ?? LIMITS.upstreamResponseBytes,
    totalMs: limits.totalMs ?? LIMITS.upstreamTotalMs,
    ...{ clock, signal },
  });
  const options = ({ contentType, length, pieces }: UpstreamRequest) => ({
    ...{ path, method: 'POST' as const, body: Readable.from(pieces) },
    headers: { ...credential, 'content-type': contentType, 'content-length': String(length) },
  });
  const unanswered = (error: unknown, signal: AbortSignal): Unanswered =>
    signal.aborted ? { kind: 'aborted' } : failureOf(error);

  return {
    async whole(request, signal) {
      if (inFlight >= most) return TOO_BUSY;
      inFlight++;
      try {
        return await collectAnswer(pool, options(request), bounds(signal));
      } catch (error) {
        return unanswered(error, signal);
      } finally {
        inFlight--;
      }
    },
    async opened(request, signal, read) {
      if (inFlight >= most) return TOO_BUSY;
      inFlight++;
      const onOver = () => {
        inFlight--;
      };
      try {
        return await read(await openAnswer(pool, options(request), { ...bounds(signal), onOver }));
      } catch (error) {
        return unanswered(error, signal);
      }
    },
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}

const TOO_BUSY = failed('busy', 'too many requests in flight', null, 1);

/** What an answer that is no success means. */
export function refusalOf({ status, headers, body }: Answer): Declined | Failed {
  if (status === 429) {
    return failed('rate_limited', 'rate limited', status, seconds(headers['retry-after']));
  }
  if (status < 400 || status >= 500) return failed('broken', `status ${status}`, status);
  return { kind: 'declined', status, body, contentType: contentTypeOf(headers) };
}

export const contentTypeOf = (headers: Answer['headers']): string =>
  oneHeader(headers['content-type']) ?? 'application/json';

/** The codes of undici's errors, as far as they mean that time ran out. */
const TIMEOUTS = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

function failureOf(error: unknown): Failed {
  if (error instanceof AnswerTooLarge) return failed('oversize', 'the answer is too large');
  if (error instanceof AnswerTooSlow) return failed('timeout', 'the answer took too long');
  if (error instanceof StreamBroken) return failed('broken', error.message, 200);
  const { code = '', message = '' } = error as { code?: string; message?: string };
  return failed(TIMEOUTS.has(code) ? 'timeout' : 'unreachable', code || message);
}

const oneHeader = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

/** Only the seconds form; a date is rare here and not worth a clock. */
function seconds(value: string | string[] | undefined): number | null {
  const text = oneHeader(value);
  return text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : null;
}
