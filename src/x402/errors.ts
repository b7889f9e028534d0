import { MAY_RETRY, NO_RETRY, refusal } from '../kernel/refusal.ts';

/** Fields by which a caller looks up a payment. */
export type ReservationRef = {
  readonly nonce: string;
  /** Unix seconds until which the payment's signature is valid. */
  readonly validBefore: number;
};

const lookUp = ({ nonce }: ReservationRef) => ({
  hint: 'See what became of the payment',
  method: 'GET',
  path: `/v1/agents/reservations/${nonce}`,
});

/** Refusals after a payment was signed and may have been sent. */
export const reservationErrors = {
  notAccepted: (status: number, detail: string, reservation: ReservationRef) =>
    refusal(
      status,
      'Payment was not accepted by resource server',
      detail,
      { reservation, next: lookUp(reservation) },
      NO_RETRY,
    ),
  ambiguous: (detail: string, reservation: ReservationRef) =>
    refusal(
      502,
      'upstream_paid_request_failed_ambiguous',
      detail,
      { reservation, next: lookUp(reservation) },
      NO_RETRY,
    ),
  unsettled: (reservation: ReservationRef) =>
    refusal(
      502,
      'upstream_payment_unsettled',
      'The vendor answered after the payment had lapsed, and the chain shows that it was not taken. The balance is released; it is safe to try again.',
      { reservation },
      MAY_RETRY,
    ),
};
