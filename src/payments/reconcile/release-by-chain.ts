import { isLive } from '../../../machines/reservation.ts';
import { proxyErrors } from '../errors.ts';
import { advanceReservation } from '../reservations/advance-reservation.ts';
import { applyVerdict, type VerdictDeps } from '../reservations/apply-verdict.ts';
import { type Reservation, reservationRecord } from '../reservations/reservation.ts';
import type { ChainJudge } from './judge-by-chain.ts';

export type ReleaseDeps = VerdictDeps & { readonly judge: Pick<ChainJudge, 'ask'> };

/**
 * Releases a reservation at the operator's request when the chain shows that it was not paid and can never be paid. Returns the
 * current row. Throws when it was paid, which settles it, and when the chain has not decided.
 */
export async function releaseByChain(deps: ReleaseDeps, row: Reservation): Promise<Reservation> {
  if (!isLive(row.state)) return requireReleased(row);
  const { nonce, state, agentId } = row;
  const verdict = await deps.judge.ask(row);
  switch (verdict.kind) {
    case 'undecided':
      throw proxyErrors.reservationUndecided(UNDECIDED, state);
    case 'used':
      await applyVerdict(deps, row, verdict);
      break;
    case 'void':
      deps.log.warn({ nonce, agentId }, 'the operator releases a payment that cannot be made');
      await advanceReservation(deps, row, { type: 'authorization.void', refused: true });
      break;
  }
  // Another process may have ended the reservation by the same evidence.
  return requireReleased((await deps.reload(nonce)) ?? row);
}

const UNDECIDED =
  'The chain does not show, or could not be asked, that this payment can never be made: it is released once a block at or after validBefore has it unused.';

function requireReleased(row: Reservation): Reservation {
  const isPaid = row.state === 'settled' || row.isCorrected;
  if (!isPaid) return row;
  throw proxyErrors.reservationSettled(reservationRecord(row));
}
