import type { Clock } from '../../../kernel/clock.ts';
import { abortSignalOf, type StopSignal } from '../../../kernel/stop-signal.ts';
import { BlockedDestination, Unreachable } from '../../../platform/egress/blocked-destination.ts';
import type { GuardedAnswer } from '../../../platform/egress/exchange.ts';
import type { GuardedClient } from '../../../platform/egress/guarded-client.ts';
import type { Header } from '../../../platform/egress/request-headers.ts';
import { SendFailed } from '../../../platform/egress/send-failed.ts';
import { type Llm, type LlmPiece, StageFailed } from '../../../voice/session/voice-pipeline.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import type { CallParties } from '../call-parties.ts';
import { NO_TOKENS } from '../no-tokens.ts';
import { ReplyLines } from './reply-lines.ts';
import { WebhookAnswer } from './webhook-answer.ts';
import { webhookRequest } from './webhook-request.ts';

export type WebhookLlmDeps = {
  /** HTTP client whose guard checks the URL before every request. */
  readonly client: GuardedClient;
  readonly clock: Clock;
  /** Returns the headers with which the webhook can continue the trace of the turn. */
  readonly traceHeaders?: (() => Readonly<Record<string, string>>) | undefined;
  /** Milliseconds that an answer may take from the request to its last byte. */
  readonly answerMs?: number;
};

/** A developer's webhook as the responder of one call. */
export interface WebhookLlm extends Llm {
  /** Stores digits of the caller, which the next request contains once. */
  entered(digits: string): void;
}

const HEADERS: readonly Header[] = [
  ['Content-Type', 'application/json'],
  ['Accept', 'application/x-ndjson'],
  ['Accept-Encoding', 'identity'],
];

/**
 * Creates a responder that posts each finished utterance to `url` once. The answer is spoken from its first final line on; an
 * invalid answer fails the turn with `llm_refused`.
 */
export function createWebhookLlm(
  deps: WebhookLlmDeps,
  call: CallParties & { readonly url: string },
): WebhookLlm {
  let entered: string | undefined;
  return {
    entered(digits) {
      entered = digits;
    },
    reply({ items, signal }) {
      const body = webhookRequest(call, items, entered);
      if (body !== undefined) entered = undefined;
      const pieces = body === undefined ? nothing() : answerOf(deps, call.url, { body, signal });
      return {
        async next() {
          const { done, value } = await pieces.next();
          return done ? undefined : value;
        },
        tokens: NO_TOKENS,
        cut: undefined,
      };
    },
  };
}

async function* nothing(): AsyncGenerator<LlmPiece, undefined> {}

type Question = { readonly body: string; readonly signal: StopSignal };

/** Generates the pieces of one answer. The request is sent when the first piece is read, and `signal` ends it. */
async function* answerOf(
  deps: WebhookLlmDeps,
  url: string,
  question: Question,
): AsyncGenerator<LlmPiece, undefined> {
  const { signal } = question;
  const answer = new WebhookAnswer();
  let asked: GuardedAnswer | undefined;
  try {
    asked = await ask(deps, url, question);
    const lines = new ReplyLines(PHONE_LIMITS.webhook.answerBytes);
    for await (const chunk of asked.body) {
      for (const line of lines.push(chunk)) yield* answer.take(line);
      if (lines.isFull || answer.isOver) break;
    }
    for (const line of lines.end()) yield* answer.take(line);
    yield* answer.end();
  } catch (error) {
    if (signal.aborted) return;
    throw refusalOf(error);
  } finally {
    asked?.discard();
  }
  if (answer.isEmpty && !signal.aborted) throw refused('The voice webhook answered with nothing.');
}

async function ask(
  { answerMs = PHONE_LIMITS.webhook.timeoutMs, client, clock, traceHeaders }: WebhookLlmDeps,
  url: string,
  { body, signal }: Question,
): Promise<GuardedAnswer> {
  const untilMs = clock.monotonicMs() + answerMs;
  const destination = await client.open(url);
  const leftMs = Math.max(1, untilMs - clock.monotonicMs());
  const answer = await client.send(destination, {
    method: 'POST',
    headers: [...HEADERS, ...Object.entries(traceHeaders?.() ?? {})],
    body,
    signal: abortSignalOf(signal),
    timeouts: { connectMs: leftMs, firstByteMs: leftMs, idleMs: leftMs, totalMs: leftMs },
    maxHeaderBytes: PHONE_LIMITS.webhook.headerBytes,
    // No limit here: the reader of lines has its own limit, and the text up to it is spoken.
    maxResponseBytes: Number.MAX_SAFE_INTEGER,
  });
  if (answer.status >= 200 && answer.status < 300) return answer;
  answer.discard();
  throw refused(`The voice webhook answered with the status ${answer.status}.`);
}

const refused = (message: string, cause?: unknown): StageFailed =>
  new StageFailed('llm_refused', message, { cause });

/** Returns the failure of a turn whose webhook gave no answer. Errors of this server stay unchanged. */
function refusalOf(error: unknown): unknown {
  if (error instanceof BlockedDestination || error instanceof Unreachable) {
    return refused('The address of the voice webhook cannot be called.', error);
  }
  if (!(error instanceof SendFailed)) return error;
  return error.reason === 'timeout'
    ? refused('The voice webhook took too long to answer.', error)
    : refused('The connection to the voice webhook failed.', error);
}
