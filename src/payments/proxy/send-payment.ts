import { setMaxListeners } from 'node:events';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { CheckedDestination } from '../../platform/egress/destination-guard.ts';
import type { GuardedAnswer } from '../../platform/egress/exchange.ts';
import type { GuardedClient } from '../../platform/egress/guarded-client.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import { type AdvanceDeps, advanceReservation } from '../reservations/advance-reservation.ts';
import type { Reservation } from '../reservations/reservation.ts';
import type { OutboundRequest } from './outbound-request.ts';
import type { OnPaymentStep } from './payment-steps.ts';
import type { Reserved } from './reserve-payment.ts';
import { sendVendor, type VendorTimes } from './vendor-call.ts';

export type SendDeps = AdvanceDeps & {
  readonly client: Pick<GuardedClient, 'send'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly times: VendorTimes;
  readonly onStep: OnPaymentStep;
};

/** Result of sending a payment: the vendor's answer with its latency, or the error that broke the request off. */
export type Sent = { readonly row: Reservation } & (
  | { readonly kind: 'answered'; readonly answer: GuardedAnswer; readonly latencyMs: number }
  | { readonly kind: 'broken'; readonly error: unknown }
);

/** Sends the request again, once, with its payment. A client that leaves does not abort the request. */
export async function sendPayment(
  deps: SendDeps,
  destination: CheckedDestination,
  request: OutboundRequest,
  { header, row: reserved }: Reserved,
): Promise<Sent> {
  const { client, clock, onStep } = deps;
  const startedMs = clock.monotonicMs();
  const sending = tellSending(deps, reserved);
  await onStep('sending');
  const headers = [...request.headers, [header.name, header.value] as const];
  const { paidMs: totalMs, unpaidMs: _, ...times } = deps.times;
  let answer: GuardedAnswer;
  try {
    const paid = { ...request, headers };
    answer = await sendVendor(client, destination, paid, { totalMs, ...times }, NEVER);
  } catch (error) {
    return { kind: 'broken', row: sending.end(), error };
  }
  const row = sending.end();
  await onStep('answered');
  return { kind: 'answered', row, answer, latencyMs: clock.monotonicMs() - startedMs };
}

/** Signal that never fires, for all payments: a payment under way outlives the client that requested it. */
const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

/**
 * Writes that a payment is on its way, unless its answer comes within `PAYMENT_LIMITS.proxy.sentMs`: a row that still reads `reserved` counts
 * as sent all the same. No caller waits for the write; the ledger keeps the order of the writes to one hold.
 */
function tellSending(deps: SendDeps, reserved: Reservation): { end(): Reservation } {
  let row = reserved;
  const timer = deps.clock.setTimeout(() => {
    row = { ...reserved, state: 'sent' };
    advanceReservation(deps, reserved, { type: 'request.sent' }).catch((err: unknown) =>
      deps.log.warn({ err, nonce: row.nonce }, 'a step of a payment was not written'),
    );
  }, PAYMENT_LIMITS.proxy.sentMs);
  return {
    end() {
      deps.clock.clearTimeout(timer);
      return row;
    },
  };
}
