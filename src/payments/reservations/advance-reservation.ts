import {
  isLive,
  planReservation,
  type ReservationEvent,
  type ReservationState,
} from '../../../machines/reservation.ts';
import { assert } from '../../kernel/assert.ts';
import type { EventRow } from '../../ledger/rules/companion.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { ReservationMove } from '../../ledger/rules/payment.ts';
import { chargeOf, holdOf, type Reservation } from './reservation.ts';

export type AdvanceDeps = {
  readonly ledger: Pick<Ledger, 'advance' | 'settle'>;
  /** Reads the current row of a reservation, which another process may have advanced. */
  readonly reload: (nonce: string) => Promise<Reservation | undefined>;
  /** Called at each end that was carried out here; twice when two processes bring a payment to the same end at once. */
  readonly onEnd?: (state: ReservationState) => void;
};

type More = {
  readonly learnt?: ReservationMove['learnt'];
  readonly events?: readonly EventRow[];
};

/** Bound of attempts against other processes. A reservation has three steps, so more lost attempts are a bug. */
const MOST_LOOKS = 8;

/**
 * Moves one reservation on by one event. State and money move together or not at all. When another process was quicker, the
 * event is planned again on the new state, and has no effect on an ended reservation. Returns the reservation's state.
 */
export async function advanceReservation(
  deps: AdvanceDeps,
  known: Reservation,
  event: ReservationEvent,
  more: More = {},
): Promise<ReservationState> {
  let row = known;
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const step = planReservation(row.state, event);
    if (step === undefined) return row.state;
    const move: ReservationMove = {
      nonce: row.nonce,
      from: row.state,
      to: step.to,
      ...(more.learnt && { learnt: more.learnt }),
    };
    if (await carryOut(deps, row, move, step.effect, more)) {
      if (!isLive(step.to)) deps.onEnd?.(step.to);
      return step.to;
    }
    const now = await deps.reload(row.nonce);
    assert(now !== undefined, 'a reservation is never deleted');
    row = now;
  }
  throw new Error(`reservation ${known.nonce} is moved on by others again and again`);
}

async function carryOut(
  { ledger }: AdvanceDeps,
  row: Reservation,
  move: ReservationMove,
  effect: 'consume' | 'release' | undefined,
  { events = [] }: More,
): Promise<boolean> {
  const { agentId, holdId } = row;
  if (effect === undefined) return (await ledger.advance({ agentId, holdId, move })) === 'moved';
  const consumed = effect === 'consume';
  const full = { ...row, responseStatusCode: statusOf(row, move), latencyMs: latencyOf(row, move) };
  const charge = chargeOf(full, consumed ? 'success' : 'failed');
  const verdict = await ledger.settle({
    hold: holdOf(row),
    actualRaw: consumed ? row.valueRaw : 0n,
    account: 'chain:usdc',
    source: 'x402',
    charges: (chargedRaw) => [charge(chargedRaw)],
    events,
    move,
  });
  return verdict.kind === 'settled';
}

const statusOf = (row: Reservation, { learnt }: ReservationMove): number | null =>
  learnt?.responseStatusCode ?? row.responseStatusCode;

const latencyOf = (row: Reservation, { learnt }: ReservationMove): number | null =>
  learnt?.latencyMs ?? row.latencyMs;
