import { IDEMPOTENCY_LIMITS } from '../../idempotency/limits.ts';
import type { GuardedAnswer } from '../../platform/egress/exchange.ts';
import type { Header } from '../../platform/egress/request-headers.ts';
import { reservationErrors } from '../../x402/errors.ts';
import { proxyErrors } from '../errors.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { Reservation } from '../reservations/reservation.ts';
import { gatherWhole } from './gather-whole.ts';
import type { ProxyRequest } from './proxy-request.ts';
import { valuesOf } from './read-challenge.ts';
import { relayedHeaders } from './relay-headers.ts';

/** A vendor's answer, with the receipt headers of this server. */
export type ProxyAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly lines: readonly Header[];
  readonly body: AsyncIterable<Uint8Array> | Uint8Array;
  readonly upstreamMs: number;
};

type Payment = Pick<Reservation, 'nonce' | 'validBefore'>;

/**
 * Refuses an answer whose stated length exceeds `PAYMENT_LIMITS.proxy.answerBytes`, which is better than cutting it in the middle. An answer
 * without a stated length can only be cut.
 */
export function requireShort(
  answer: GuardedAnswer,
  method: ProxyRequest['method'],
  paid?: Payment,
): void {
  const [length] = valuesOf(answer, 'content-length');
  const most = PAYMENT_LIMITS.proxy.answerBytes;
  const hasNoBody = method === 'HEAD' || answer.status === 204 || answer.status === 304;
  if (hasNoBody || Number(length ?? 0) <= most) return;
  answer.discard();
  if (paid === undefined) throw proxyErrors.responseTooLarge(most);
  const { nonce, validBefore } = paid;
  throw reservationErrors.ambiguous(
    `The vendor has the payment and answers with more than ${most} bytes, which are not relayed. Do not send it again: look the reservation up until it is terminal.`,
    { nonce, validBefore },
  );
}

export const relayAnswer = (
  answer: GuardedAnswer,
  receipt: Readonly<Record<string, string>>,
  upstreamMs: number,
): ProxyAnswer => ({
  status: answer.status,
  headers: receipt,
  lines: relayedHeaders(answer.headers),
  upstreamMs,
  // A body that has come is sent in one piece.
  body: answer.whole() ?? answer.body,
});

/**
 * Reads a paid answer to its end, whether or not its client still reads, because a request with an idempotency key is
 * replayed. Throws `ambiguous` when the answer breaks off or exceeds `IDEMPOTENCY_LIMITS.answerBytes`.
 */
export async function keepWhole(
  answer: ProxyAnswer,
  { nonce, validBefore }: Payment,
): Promise<ProxyAnswer> {
  try {
    return await gatherWhole(answer, IDEMPOTENCY_LIMITS.answerBytes);
  } catch {
    const detail =
      'The answer broke off after the payment had been taken. Do not send it again: look the reservation up until it is terminal.';
    throw reservationErrors.ambiguous(detail, { nonce, validBefore });
  }
}
