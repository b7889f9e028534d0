import type { Log } from '../../kernel/log.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import { authorizationStates } from '../../platform/chain/authorization-states.ts';
import type { Block } from '../../platform/chain/rpc-answers.ts';
import type { Reservation } from '../reservations/reservation.ts';
import type { ChainView } from './judge-by-chain.ts';
import type { OnAlarm } from './payment-alarm.ts';

export type RecoverDeps = {
  readonly view: ChainView;
  readonly ledger: Pick<Ledger, 'credit'>;
  /** Settled lately, as long as a reorganisation may still undo it. */
  readonly findSettled: () => Promise<readonly Reservation[]>;
  readonly log: Log;
  readonly onAlarm?: OnAlarm;
};

/**
 * After a reorganisation: what was settled on the branch that is gone and can never be paid on this one is credited
 * again, once. Answers how many may still be paid, or are not known of: until they are decided the chain is read from
 * where it parted.
 */
export async function recoverVanished(deps: RecoverDeps, at: Block): Promise<number> {
  const { view, ledger, log } = deps;
  const settled = await deps.findSettled();
  if (settled.length === 0) return 0;
  const states = await authorizationStates(view.rpc, view.usdc, at, settled);
  let undecided = 0;
  for (const [i, row] of settled.entries()) {
    if (states[i] === true) continue;
    // Nothing is known of it yet.
    if (states[i] === undefined) {
      undecided++;
      continue;
    }
    const { nonce, agentId, valueRaw: amountRaw } = row;
    if (at.timestampSec < row.validBefore) {
      log.error({ nonce, agentId }, 'a settled payment has left the chain; it may come back');
      undecided++;
      continue;
    }
    log.error({ nonce, agentId }, 'a settled payment has left the chain for good');
    deps.onAlarm?.('settlement_vanished');
    if (amountRaw === 0n) continue;
    // Its USDC never left the wallet.
    await ledger.credit({ agentId, amountRaw, reference: `vanished:${nonce}`, deposit: true });
  }
  return undecided;
}
