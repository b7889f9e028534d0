import type { ReservationEvent } from '../../../machines/reservation.ts';
import type { ApiError } from '../../kernel/api-error.ts';
import type { Log } from '../../kernel/log.ts';
import type { ReservationMove } from '../../ledger/rules/payment.ts';
import type { GuardedAnswer } from '../../platform/egress/exchange.ts';
import { BadRequestHeader, SendFailed } from '../../platform/egress/send-failed.ts';
import { reservationErrors } from '../../x402/errors.ts';
import { readRefusal } from '../../x402/refusal.ts';
import { decodeSettlement } from '../../x402/settlement.ts';
import { proxyErrors } from '../errors.ts';
import type { Reservation } from '../reservations/reservation.ts';
import { valuesOf, vendorAnswer } from './read-challenge.ts';
import type { Sent } from './send-payment.ts';

/** Outcome of a sent payment, to be written to its reservation. */
export type PaymentOutcome = {
  readonly row: Reservation;
  readonly event: ReservationEvent;
  readonly learnt: ReservationMove['learnt'];
} & (
  | { readonly kind: 'taken'; readonly answer: GuardedAnswer }
  | { readonly kind: 'refused'; readonly refusal: ApiError }
);

/**
 * Reads the outcome of a sent payment. From the first byte sent on, a vendor's answer is only a hint; the chain
 * decides.
 */
export async function readOutcome(log: Log, sent: Sent): Promise<PaymentOutcome> {
  if (sent.kind === 'broken') return brokenOff(log, sent.row, sent.error);
  const { answer, latencyMs, row: known } = sent;
  const { status } = answer;
  const claimed = decodeSettlement((name) => valuesOf(answer, name));
  const learnt = { responseStatusCode: status, latencyMs, txHash: claimed?.transaction };
  const row = { ...known, responseStatusCode: status, latencyMs };
  if (status >= 500) {
    answer.discard();
    const refusal = reservationErrors.ambiguous(
      `The vendor failed with ${status} after it had the payment, which may have been taken. Do not send it again: look the reservation up until it is terminal.`,
      refOf(row),
    );
    return { kind: 'refused', row, event: BROKEN, learnt, refusal };
  }
  if (status >= 400) {
    const words = readRefusal(await vendorAnswer(answer)) ?? `The vendor answered ${status}.`;
    const refusal = reservationErrors.notAccepted(status, words, refOf(row));
    return { kind: 'refused', row, event: ARRIVED, learnt: { ...learnt, refused: true }, refusal };
  }
  return { kind: 'taken', row, event: ARRIVED, learnt, answer };
}

const ARRIVED: ReservationEvent = { type: 'response.arrived' };
const BROKEN: ReservationEvent = { type: 'request.broken' };
const UNSENT: ReservationEvent = { type: 'request.unsent' };

function brokenOff(log: Log, row: Reservation, error: unknown): PaymentOutcome {
  const told = { kind: 'refused', row, learnt: {} } as const;
  if (error instanceof SendFailed && error.beforeBytes) {
    const detail = 'The vendor could not be reached again; nothing was paid.';
    return { ...told, event: UNSENT, refusal: proxyErrors.unreachable(detail) };
  }
  // The payment header repeats the vendor's offer, and may exceed the header limit together with the caller's own headers.
  if (error instanceof BadRequestHeader) {
    const detail = `The request cannot carry its payment (${error.message}); nothing was paid.`;
    return { ...told, event: UNSENT, refusal: proxyErrors.uncarriable(detail) };
  }
  if (!(error instanceof SendFailed)) {
    log.error({ err: error, nonce: row.nonce }, 'a payment was interrupted by a bug');
  }
  const why = error instanceof SendFailed ? error.reason : 'broken';
  const detail = `The paid request got no whole answer (${why}). Do not send it again: look the reservation up until it is terminal.`;
  return { ...told, event: BROKEN, refusal: reservationErrors.ambiguous(detail, refOf(row)) };
}

const refOf = ({ nonce, validBefore }: Reservation) => ({ nonce, validBefore });
