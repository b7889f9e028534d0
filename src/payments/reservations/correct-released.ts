import type { Log } from '../../kernel/log.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { OnAlarm } from '../reconcile/payment-alarm.ts';
import { chargeOf, holdOf, type Reservation } from './reservation.ts';

export type CorrectDeps = {
  readonly ledger: Pick<Ledger, 'correct'>;
  readonly log: Log;
  readonly onAlarm?: OnAlarm;
};

/**
 * Debits a payment that moved on chain after its money had been given back, and raises an alarm for an operator. A payment that
 * a reorganisation gave back after its settlement has its line of history already.
 */
export async function correctReleased(
  deps: CorrectDeps,
  row: Reservation,
  txHash: string,
): Promise<void> {
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
