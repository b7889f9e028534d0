import { ApiError } from '../../kernel/api-error.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import type { Random } from '../../kernel/random.ts';
import type { HoldVerdict, Ledger } from '../../ledger/rules/ledger.ts';
import type { NewReservation } from '../../ledger/rules/payment.ts';
import type { Destination, HoldRefusal, Spender } from '../../ledger/rules/requests.ts';
import { proxyErrors } from '../errors.ts';
import type { Reservation } from '../reservations/reservation.ts';

export type HoldPaymentDeps = {
  readonly ledger: Pick<Ledger, 'hold'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Makes the error that is thrown when the balance or a spend control refuses the payment. */
  readonly refusalOfHold: (refusal: HoldRefusal) => Error;
};

type Held = Extract<HoldVerdict, { kind: 'held' }>;

export type HeldPayment = { readonly row: Reservation; readonly held: Held };

/** Writes a reservation and holds its amount, in one commit. Throws the refusal. */
export async function holdPayment(
  { clock, ledger, log, random, refusalOfHold }: HoldPaymentDeps,
  { spender, workId }: { readonly spender: Spender; readonly workId: string | undefined },
  reservation: NewReservation,
  amountRaw: bigint,
  destination: Destination,
): Promise<HeldPayment> {
  const holdId = workId ?? newId(random, 'pay_');
  let verdict: HoldVerdict;
  try {
    verdict = await ledger.hold({ spender, holdId, amountRaw, reservation, destination });
  } catch (err) {
    // The reservation may still be written: the ledger releases a hold that no caller waits for any more.
    if (!(err instanceof ApiError)) log.error({ err }, 'a reservation could not be written');
    throw proxyErrors.persistenceFailed();
  }
  if (verdict.kind === 'refused') throw refusalOfHold(verdict.refusal);
  return { row: rowOf(spender, reservation, verdict, clock.now()), held: verdict };
}

const rowOf = (
  spender: Spender,
  reservation: NewReservation,
  { hold: { holdId, agentId, amountRaw, facts } }: Held,
  reservedMs: number,
): Reservation => ({
  nonce: reservation.nonce,
  holdId,
  agentId,
  valueRaw: amountRaw,
  keyId: spender.keyId ?? null,
  keyRootId: facts.keyRootId,
  wallet: reservation.wallet,
  payee: reservation.payee,
  validBefore: reservation.validBefore,
  targetUrl: reservation.targetUrl,
  targetHost: reservation.targetHost,
  method: reservation.method,
  taskId: facts.taskId,
  actionId: spender.actionId ?? null,
  customerId: spender.customerId ?? null,
  state: 'reserved',
  refused: false,
  txHash: null,
  responseStatusCode: null,
  latencyMs: null,
  reservedMs,
  sentMs: null,
  decidedMs: null,
  isCorrected: false,
});
