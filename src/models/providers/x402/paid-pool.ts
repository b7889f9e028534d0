import type { ApiError } from '../../../kernel/api-error.ts';
import { assert } from '../../../kernel/assert.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { StopSignal } from '../../../kernel/stop-signal.ts';
import type { GuardedAnswer } from '../../../platform/egress/exchange.ts';
import { readBounded } from '../../../platform/egress/read-body.ts';
import { BodyTooLarge, SendFailed } from '../../../platform/egress/send-failed.ts';
import { reservationErrors } from '../../../x402/errors.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import type { OpenedAnswer } from '../open-answer.ts';
import { StreamBroken } from '../openai/answer-reader.ts';
import type { CollectedAnswer } from '../openai/collect-answer.ts';
import { failed, type Outcome } from '../outcome.ts';
import type { PaidCalls, PaymentRef } from '../paid-calls.ts';
import {
  COMMON_HEADERS,
  isSuccess,
  refusalOf,
  type SentRequest,
  TOO_DEEP,
  UPSTREAM_LIMITS,
  type UpstreamLimits,
  type UpstreamPool,
  unservedOf,
  urlBelow,
  writeSent,
} from '../upstream-pool.ts';

/**
 * Creates the pool for one address of an upstream that the caller's wallet pays for each request. After a payment was signed,
 * the outcome is a delivery or `spent`, and no other upstream may be tried.
 */
export function createPaidPool(deps: {
  readonly paidCalls: PaidCalls;
  readonly baseUrl: string;
  /** Path below the base URL, such as `/chat/completions`. */
  readonly path: string;
  readonly clock: Clock;
  readonly headers?: Readonly<Record<string, string>>;
  readonly limits?: Partial<UpstreamLimits> | undefined;
}): UpstreamPool {
  const firstByteMs = MODEL_LIMITS.upstream.paidFirstByteMs;
  const limits = { ...UPSTREAM_LIMITS, firstByteMs, ...deps.limits };
  const { idleMs, responseBytes, totalMs } = limits;
  const url = urlBelow(deps.baseUrl, deps.path).href;

  async function ask<T>(
    sent: () => SentRequest,
    signal: StopSignal,
    read: (answer: GuardedAnswer) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const request = writeSent(sent);
    if (request === undefined) return TOO_DEEP;
    const budget = request.paymentMethod?.budget;
    assert(budget !== undefined, 'a call that is paid by itself says who pays');
    const result = await deps.paidCalls.send({
      ...budget,
      url,
      headers: Object.entries({ ...COMMON_HEADERS, ...deps.headers, ...request.headers }),
      body: await wholeOf(request.body),
      firstByteMs: limits.firstByteMs,
      idleMs,
      totalMs,
      responseBytes,
      signal,
    });
    if (result.kind === 'unpaid') return failed(result.failure, result.detail);
    if (result.kind !== 'answered') return result;
    const { answer, payment } = result;
    const outcome = await read(answer).catch((error: unknown): Outcome<T> => {
      return signal.aborted ? { kind: 'aborted' } : failureOf(error);
    });
    Object.assign(outcome, { headers: headersOf(answer.headers) });
    if (outcome.kind !== 'completed') answer.discard();
    if (outcome.kind === 'completed') return { ...outcome, paidRaw: payment?.paidRaw ?? 0n };
    return payment === undefined ? outcome : { kind: 'spent', refusal: inVain(outcome, payment) };
  }

  return {
    whole: (sent, signal, read) =>
      ask(sent, signal, async ({ status, headers, body }) => {
        const bytes = await readBounded(body, responseBytes);
        const answer = { status, headers: headersOf(headers), body: Buffer.from(bytes) };
        return unservedOf(answer, deps.clock.now()) ?? read(answer);
      }),
    opened: (sent, signal, read) =>
      ask(sent, signal, async (answer) => {
        const { status, body, discard: stop } = answer;
        const opened: OpenedAnswer = { status, headers: headersOf(answer.headers), body, stop };
        return isSuccess(opened) ? read(opened) : refusalOf(opened, deps.clock.now());
      }),
    // The caller owns the connections and closes them.
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Collects the body in memory: it is sent twice, without and with the payment, so it cannot be a stream. */
async function wholeOf(body: SentRequest['body']): Promise<string | Uint8Array> {
  if (body === null) return '';
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function headersOf(lines: GuardedAnswer['headers']): CollectedAnswer['headers'] {
  const headers: Record<string, string> = {};
  for (const [name, value] of lines) headers[name.toLowerCase()] ??= value;
  return headers;
}

function inVain(outcome: Outcome<unknown>, { nonce, validBefore }: PaymentRef): ApiError {
  const why = 'detail' in outcome ? ` (${outcome.detail})` : '';
  const detail = `The upstream was paid and did not answer with what was asked for${why}. Do not send it again: look the reservation up until it is terminal.`;
  return reservationErrors.ambiguous(detail, { nonce, validBefore });
}

/** Maps the error of an answer that broke off to a failure. */
function failureOf(error: unknown) {
  if (error instanceof BodyTooLarge) return failed('oversize', 'the answer is too large');
  if (error instanceof StreamBroken) return failed('broken', error.message, 200);
  if (!(error instanceof SendFailed)) return failed('broken', (error as Error).message);
  return failed(error.reason === 'timeout' ? 'timeout' : 'unreachable', error.reason);
}
