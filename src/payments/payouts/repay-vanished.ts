import type { Log } from '../../kernel/log.ts';
import { authorizationStates } from '../../platform/chain/authorization-states.ts';
import type { Block } from '../../platform/chain/rpc-answers.ts';
import type { ChainView } from '../reconcile/judge-by-chain.ts';
import type { PastPayout } from './payout.ts';
import type { Payouts } from './payouts.ts';

export type RepayDeps = {
  readonly view: Pick<ChainView, 'rpc' | 'usdc'>;
  readonly payouts: Pick<Payouts, 'payAgain'>;
  /** Returns payouts that were carried out lately, while a reorganisation may still undo the transfer. */
  readonly findDone: () => Promise<readonly PastPayout[]>;
  readonly log: Log;
};

/**
 * Hands payouts that were carried out on a removed branch to the present branch, under their old nonces. The books show the
 * payouts as made, and are right again once they are made. Returns the number of payouts that are not on the present branch
 * yet: while there are any, the chain is read from the block where the branches parted.
 */
export async function repayVanished(
  { view, payouts, findDone, log }: RepayDeps,
  at: Block,
): Promise<number> {
  const done = await findDone();
  if (done.length === 0) return 0;
  const states = await authorizationStates(view.rpc, view.usdc, at, done);
  let missing = 0;
  for (const [i, payout] of done.entries()) {
    if (states[i] === true) continue;
    missing++;
    if (states[i] === undefined) continue;
    const { nonce, agentId } = payout;
    log.error({ nonce, agentId }, 'a payout has left the chain; it is handed over again');
    await payouts.payAgain(payout);
  }
  return missing;
}
