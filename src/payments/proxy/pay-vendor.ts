import { setMaxListeners } from 'node:events';
import type { ReservationEvent } from '../../../machines/reservation.ts';
import { type Clock, within } from '../../kernel/clock.ts';
import { errors } from '../../kernel/errors.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { ReservationMove } from '../../ledger/rules/payment.ts';
import type { Destination } from '../../platform/egress/destination-guard.ts';
import type { GuardedAnswer } from '../../platform/egress/exchange.ts';
import type { GuardedClient } from '../../platform/egress/guarded-client.ts';
import { BadRequestHeader, SendFailed } from '../../platform/egress/send-failed.ts';
import { readRefusal } from '../../x402/refusal.ts';
import { decodeSettlement } from '../../x402/settlement.ts';
import type { ChainJudge } from '../reconcile/judge-by-chain.ts';
import { advanceReservation } from '../reservations/advance-reservation.ts';
import { applyVerdict, type VerdictDeps } from '../reservations/apply-verdict.ts';
import type { Reservation } from '../reservations/reservation.ts';
import type { Reserved } from '../reservations/reserve-payment.ts';
import type { OutboundRequest } from './outbound-request.ts';
import { valuesOf, vendorAnswer } from './read-challenge.ts';
import { sendVendor, type VendorTimes } from './vendor-call.ts';

/**
 * Points on the way of a payment, in their order. `judged` is passed by late answers only, which are booked once more
 * after it; `kept` by answers under a key, whatever they are an answer to. An answer in time is relayed while it is
 * booked, and may be out before that.
 */
export type PaymentStep =
  | 'reserved'
  | 'sending'
  | 'answered'
  | 'booked'
  | 'judged'
  | 'answering'
  | 'kept';

/** Hears of each step as it is passed; what it returns is waited for. */
export type OnPaymentStep = (step: PaymentStep) => Promise<void> | undefined;

export type PayDeps = VerdictDeps & {
  readonly client: Pick<GuardedClient, 'send'>;
  readonly judge: Pick<ChainJudge, 'wait'>;
  readonly clock: Clock;
  readonly times: VendorTimes;
  readonly onStep: OnPaymentStep;
};

/** A vendor's answer to a payment, to be relayed as paid. */
export type PaidAnswer = { readonly answer: GuardedAnswer; readonly row: Reservation };

/**
 * Sends the request again with its payment, once, and says what may be said of the answer. From the first byte on
 * nothing but the chain releases the hold: a client that leaves does not end this, and what a vendor says is a hint.
 */
export async function payVendor(
  deps: PayDeps,
  destination: Destination,
  request: OutboundRequest,
  { row: reserved, header }: Reserved,
): Promise<PaidAnswer> {
  const { clock, onStep } = deps;
  const startedMs = clock.monotonicMs();
  const sending = tellSending(deps, reserved);
  await onStep('sending');
  const headers = [...request.headers, [header.name, header.value] as const];
  const { paidMs: totalMs, unpaidMs: _, ...times } = deps.times;
  let answer: GuardedAnswer;
  try {
    const paid = { ...request, headers };
    answer = await sendVendor(deps.client, destination, paid, { totalMs, ...times }, NEVER);
  } catch (error) {
    throw await brokenOff(deps, sending.end(), error);
  }
  const row = sending.end();
  await onStep('answered');
  return takeAnswer(deps, row, answer, clock.monotonicMs() - startedMs);
}

/** A payment under way outlives the client that asked for it. All of them listen to this one. */
const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

/**
 * Writes that a payment is on its way, where its answer does not come first: a row that still reads `reserved` is taken
 * for sent all the same. No caller waits for it; the ledger keeps the order of what is asked of one hold.
 */
function tellSending(deps: PayDeps, reserved: Reservation): { end(): Reservation } {
  let row = reserved;
  const timer = deps.clock.setTimeout(() => {
    row = { ...reserved, state: 'sent' };
    advanceReservation(deps, reserved, { type: 'request.sent' }).catch((err: unknown) =>
      deps.log.warn({ err, nonce: row.nonce }, 'a step of a payment was not written'),
    );
  }, LIMITS.proxySentMs);
  return {
    end() {
      deps.clock.clearTimeout(timer);
      return row;
    },
  };
}

/** Writes what was learnt. */
const book = (
  deps: PayDeps,
  row: Reservation,
  event: ReservationEvent,
  learnt: ReservationMove['learnt'] = {},
): Promise<void> => booked(deps, row, advanceReservation(deps, row, event, { learnt }));

/** Waits for what is being written only so long: the caller who waits for the answer has paid for it. */
async function booked(
  { clock, log, onStep }: PayDeps,
  { nonce }: Reservation,
  writing: Promise<unknown>,
): Promise<void> {
  try {
    await within(clock, LIMITS.proxyBookMs, writing, () => undefined);
  } catch (err) {
    log.warn({ err, nonce }, 'the answer to a payment was not written; the chain decides');
  }
  await onStep('booked');
}

async function brokenOff(deps: PayDeps, row: Reservation, error: unknown): Promise<unknown> {
  if (error instanceof SendFailed && error.beforeBytes) {
    await book(deps, row, { type: 'request.unsent' });
    return errors.proxy.unreachable('The vendor could not be reached again; nothing was paid.');
  }
  // The payment repeats the vendor's offer, which may leave no room for it beside the caller's own headers.
  if (error instanceof BadRequestHeader) {
    await book(deps, row, { type: 'request.unsent' });
    return errors.proxy.uncarriable(
      `The request cannot carry its payment (${error.message}); nothing was paid.`,
    );
  }
  await book(deps, row, { type: 'request.broken' });
  if (!(error instanceof SendFailed)) {
    deps.log.error({ err: error, nonce: row.nonce }, 'a payment was interrupted by a bug');
  }
  const why = error instanceof SendFailed ? error.reason : 'broken';
  return errors.proxy.ambiguous(
    `The paid request got no whole answer (${why}). Do not send it again: look the reservation up until it is terminal.`,
    refOf(row),
  );
}

async function takeAnswer(
  deps: PayDeps,
  row: Reservation,
  answer: GuardedAnswer,
  latencyMs: number,
): Promise<PaidAnswer> {
  const { status } = answer;
  const claimed = decodeSettlement((name) => valuesOf(answer, name));
  const learnt = { responseStatusCode: status, latencyMs, txHash: claimed?.transaction };
  const told = { ...row, responseStatusCode: status, latencyMs };
  if (status >= 500) {
    answer.discard();
    await book(deps, told, { type: 'request.broken' }, learnt);
    throw errors.proxy.ambiguous(
      `The vendor failed with ${status} after it had the payment, which may have been taken. Do not send it again: look the reservation up until it is terminal.`,
      refOf(row),
    );
  }
  if (status >= 400) {
    const words = readRefusal(await vendorAnswer(answer));
    await book(deps, told, { type: 'response.arrived' }, { ...learnt, refused: true });
    const detail = words ?? `The vendor answered ${status}.`;
    throw errors.proxy.notAccepted(status, detail, refOf(row));
  }
  if (deps.clock.now() >= row.validBefore * 1_000) return takeLate(deps, told, answer, learnt);
  // It is paid for, and the chain decides whether or not our note of it stands, so it is not waited for.
  const arrived = { type: 'response.arrived' } as const;
  void booked(deps, told, advanceReservation(deps, told, arrived, { learnt, isDeferrable: true }));
  return { answer, row: told };
}

/** The payment has lapsed by our clock: whether it was taken before that, only the chain knows. */
async function takeLate(
  deps: PayDeps,
  row: Reservation,
  answer: GuardedAnswer,
  learnt: ReservationMove['learnt'],
): Promise<PaidAnswer> {
  await book(deps, row, { type: 'response.arrived' }, learnt);
  const waiting = { ...row, state: 'pending_settlement' } as const;
  const verdict = await deps.judge.wait(waiting, LIMITS.lateAnswerMs);
  await deps.onStep('judged');
  switch (verdict.kind) {
    case 'used':
      await booked(deps, waiting, applyVerdict(deps, waiting, verdict));
      return { answer, row };
    case 'void':
      answer.discard();
      await book(deps, waiting, { type: 'authorization.void', refused: row.refused });
      throw errors.proxy.unsettled(refOf(row));
    case 'undecided':
      answer.discard();
      throw errors.proxy.ambiguous(
        'The vendor answered after the payment had lapsed, and the chain has not said yet whether it was taken. Look the reservation up until it is terminal.',
        refOf(row),
      );
  }
}

const refOf = ({ nonce, validBefore }: Reservation) => ({ nonce, validBefore });
