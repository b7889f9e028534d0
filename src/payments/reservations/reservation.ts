import type { ReservationState } from '../../../machines/reservation.ts';
import { isoTime } from '../../kernel/clock.ts';
import { type ChargeRow, chargeRow } from '../../ledger/rules/companion.ts';
import type { Hold } from '../../ledger/rules/requests.ts';

/** Row of one signed payment to a vendor. */
export type Reservation = {
  readonly nonce: string;
  readonly holdId: string;
  readonly agentId: number;
  readonly keyId: number | null;
  /** Id of the first key in the chain of rotations that led to `keyId`. */
  readonly keyRootId: number | null;
  readonly wallet: string;
  readonly payee: string;
  readonly valueRaw: bigint;
  /** Unix seconds, by the chain's clock, from which the authorization is no longer valid. */
  readonly validBefore: number;
  readonly targetUrl: string;
  readonly targetHost: string;
  readonly method: string;
  readonly taskId: string | null;
  readonly actionId: string | null;
  readonly customerId: string | null;
  readonly state: ReservationState;
  /** True when the vendor has refused the payment. */
  readonly refused: boolean;
  readonly txHash: string | null;
  readonly responseStatusCode: number | null;
  readonly latencyMs: number | null;
  readonly reservedMs: number;
  readonly sentMs: number | null;
  readonly decidedMs: number | null;
  /** True when the payment moved after its release, and was debited then. */
  readonly isCorrected: boolean;
};

/** Returns the hold that a reservation has, or had. */
export const holdOf = (row: Reservation): Hold => ({
  holdId: row.holdId,
  agentId: row.agentId,
  amountRaw: row.valueRaw,
  facts: {
    keyRootId: row.keyRootId,
    taskId: row.taskId,
    host: row.targetHost,
    payee: row.payee,
  },
});

/** Returns a function that builds the charge row for the agent's history, from the cost of an ended reservation. */
export const chargeOf =
  (row: Reservation, status: ChargeRow['status']) =>
  (costRaw: bigint): ChargeRow => {
    const { latencyMs, method, payee, responseStatusCode, targetHost, targetUrl } = row;
    const call = { latencyMs, method, payee, responseStatusCode, targetHost, targetUrl };
    return chargeRow(row, { ...call, status, costRaw, rail: 'x402' });
  };

/** Returns the state that callers know: a payment that was never sent counts as expired. */
const wireState = (state: ReservationState): Exclude<ReservationState, 'released'> =>
  state === 'released' ? 'expired_unsettled' : state;

const TERMINAL: ReadonlySet<ReservationState> = new Set([
  'settled',
  'expired_unsettled',
  'payment_rejected',
  'released',
]);

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));

/** Returns a reservation in its wire form. */
export const reservationRecord = (row: Reservation) => ({
  nonce: row.nonce,
  state: wireState(row.state),
  terminal: TERMINAL.has(row.state),
  paymentAmountRaw: row.valueRaw.toString(),
  paymentRecipient: row.payee,
  // Before the chain has decided, this is the vendor's claim.
  txHash: row.txHash,
  validBefore: row.validBefore,
  reservedAt: isoTime(row.reservedMs),
  sentAt: isoOrNull(row.sentMs),
  settledAt: row.state === 'settled' ? isoOrNull(row.decidedMs) : null,
});
