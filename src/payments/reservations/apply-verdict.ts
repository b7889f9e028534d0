import { assert } from '../../kernel/assert.ts';
import type { Log } from '../../kernel/log.ts';
import type { EventRow } from '../../ledger/rules/companion.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { ChainVerdict } from '../reconcile/judge-by-chain.ts';
import type { OnAlarm } from '../reconcile/payment-alarm.ts';
import { type AdvanceDeps, advanceReservation } from './advance-reservation.ts';
import { chargeOf, holdOf, type Reservation } from './reservation.ts';

export type VerdictDeps = AdvanceDeps & {
  readonly ledger: Pick<Ledger, 'advance' | 'settle' | 'correct'>;
  /** The events that a settled payment writes. */
  readonly eventsOf: (row: Reservation, txHash: string) => Promise<readonly EventRow[]>;
  readonly log: Log;
  readonly onAlarm?: OnAlarm;
};

/**
 * Brings a reservation to the end that the chain has decided. Answers whether it has come to one. What others have
 * released meanwhile and the chain shows to have moved is corrected here, since it is not looked at again.
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
      if (state !== 'settled') await correctReleased(deps, row.nonce, txHash);
      return true;
    }
  }
}

async function correctReleased(deps: VerdictDeps, nonce: string, txHash: string): Promise<void> {
  const row = await deps.reload(nonce);
  assert(row !== undefined, 'a reservation is never deleted');
  if (!row.isCorrected) await correct(deps, row, txHash);
}

/**
 * A payment moved after its money had been given back: it is debited, and an operator has to look at why. One that was
 * settled and given back by a reorganisation has its line of history already.
 */
export async function correct(deps: VerdictDeps, row: Reservation, txHash: string): Promise<void> {
  const { nonce, agentId, state, valueRaw: amountRaw } = row;
  deps.log.error({ nonce, agentId, txHash }, 'a payment moved on chain after it was released');
  deps.onAlarm?.('moved_after_release');
  if (amountRaw === 0n) return;
  await deps.ledger.correct({
    agentId,
    amountRaw,
    facts: holdOf(row).facts,
    move: { nonce, from: state, to: state, learnt: { txHash } },
    charge: state === 'settled' ? null : chargeOf(row, 'success'),
  });
}
