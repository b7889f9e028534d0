import { assert } from '../../kernel/assert.ts';
import type { EventRow } from '../../ledger/rules/companion.ts';
import type { ChainVerdict } from '../reconcile/judge-by-chain.ts';
import { type AdvanceDeps, advanceReservation } from './advance-reservation.ts';
import { type CorrectDeps, correctReleased } from './correct-released.ts';
import type { Reservation } from './reservation.ts';

export type VerdictDeps = AdvanceDeps &
  CorrectDeps & {
    /** Builds the events that the settlement of a payment writes. */
    readonly eventsOf: (row: Reservation, txHash: string) => Promise<readonly EventRow[]>;
  };

/**
 * Brings a reservation to the end that the chain has decided. Returns false while the chain is undecided. A payment that was
 * released meanwhile and yet moved on chain is corrected here, since it is not examined again.
 */
export async function applyVerdict(
  deps: VerdictDeps,
  row: Reservation,
  verdict: ChainVerdict,
): Promise<boolean> {
  switch (verdict.kind) {
    case 'undecided':
      return false;
    case 'void':
      await advanceReservation(deps, row, { type: 'authorization.void', refused: row.refused });
      return true;
    case 'used': {
      const { txHash } = verdict;
      const events = await deps.eventsOf(row, txHash);
      const more = { learnt: { txHash }, events };
      const state = await advanceReservation(deps, row, { type: 'authorization.used' }, more);
      if (state === 'settled') return true;
      const released = await deps.reload(row.nonce);
      assert(released !== undefined, 'a reservation is never deleted');
      if (!released.isCorrected) await correctReleased(deps, released, txHash);
      return true;
    }
  }
}
