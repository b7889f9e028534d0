import { within } from '../../kernel/clock.ts';
import type { CheckedDestination } from '../../platform/egress/destination-guard.ts';
import type { GuardedAnswer } from '../../platform/egress/exchange.ts';
import { reservationErrors } from '../../x402/errors.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { ChainJudge } from '../reconcile/judge-by-chain.ts';
import { advanceReservation } from '../reservations/advance-reservation.ts';
import { applyVerdict, type VerdictDeps } from '../reservations/apply-verdict.ts';
import type { Reservation } from '../reservations/reservation.ts';
import type { OutboundRequest } from './outbound-request.ts';
import { readOutcome } from './read-outcome.ts';
import type { Reserved } from './reserve-payment.ts';
import { type SendDeps, sendPayment } from './send-payment.ts';

export type PayDeps = SendDeps & VerdictDeps & { readonly judge: Pick<ChainJudge, 'wait'> };

/** A vendor's answer that is relayed as paid, with its reservation. */
export type PaidAnswer = { readonly answer: GuardedAnswer; readonly row: Reservation };

/**
 * Sends the request again with its payment, once, and returns the outcome. From the first byte on only the chain releases the
 * hold: a client that leaves does not end this call, and the vendor's answer is only a hint.
 */
export async function payVendor(
  deps: PayDeps,
  destination: CheckedDestination,
  request: OutboundRequest,
  reserved: Reserved,
): Promise<PaidAnswer> {
  const sent = await sendPayment(deps, destination, request, reserved);
  const outcome = await readOutcome(deps.log, sent);
  const { event, learnt, row } = outcome;
  const isPaid = outcome.kind === 'taken' && deps.clock.now() < row.validBefore * 1_000;
  const booking = booked(deps, row, advanceReservation(deps, row, event, { learnt }));
  // The chain settles the payment even when this write fails, so the answer does not wait for the write.
  if (isPaid) return { answer: outcome.answer, row };
  await booking;
  if (outcome.kind === 'refused') throw outcome.refusal;

  // By this server's clock the payment has expired. Only the chain shows if the payment was carried out before.
  const { answer } = outcome;
  const waiting = { ...row, state: 'pending_settlement' } as const;
  const verdict = await deps.judge.wait(waiting, PAYMENT_LIMITS.lateAnswer.waitMs);
  await deps.onStep('judged');
  if (verdict.kind !== 'used') answer.discard();
  if (verdict.kind === 'undecided') {
    throw reservationErrors.ambiguous(
      'The vendor answered after the payment had lapsed, and the chain has not said yet whether it was taken. Look the reservation up until it is terminal.',
      { nonce: row.nonce, validBefore: row.validBefore },
    );
  }
  await booked(deps, row, applyVerdict(deps, waiting, verdict));
  if (verdict.kind === 'used') return { answer, row };
  throw reservationErrors.unsettled({ nonce: row.nonce, validBefore: row.validBefore });
}

/** Waits up to `PAYMENT_LIMITS.proxy.bookMs` for a write, because the caller has paid and waits for the answer. */
async function booked(
  { clock, log, onStep }: Pick<PayDeps, 'clock' | 'log' | 'onStep'>,
  { nonce }: Reservation,
  writing: Promise<unknown>,
): Promise<void> {
  try {
    await within(clock, PAYMENT_LIMITS.proxy.bookMs, writing, () => undefined);
  } catch (err) {
    log.warn({ err, nonce }, 'the answer to a payment was not written; the chain decides');
  }
  await onStep('booked');
}
