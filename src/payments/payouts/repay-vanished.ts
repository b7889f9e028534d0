import type { Log } from '../../kernel/log.ts';
import { authorizationStates } from '../../platform/chain/authorization-states.ts';
import type { Block } from '../../platform/chain/rpc-answers.ts';
import type { ChainView } from '../reconcile/judge-by-chain.ts';
import type { PastPayout } from './payout.ts';
import type { Payouts } from './payouts.ts';

export type RepayDeps = {
  readonly view: Pick<ChainView, 'rpc' | 'usdc'>;
  readonly payouts: Pick<Payouts, 'payAgain'>;
  /** Carried out lately, as long as a reorganisation may still undo it. */
  readonly findDone: () => Promise<readonly PastPayout[]>;
  readonly log: Log;
};

/**
 * After a reorganisation: payouts that were carried out on the branch that is gone are handed to this one, under the
 * nonces that they always had. The books say already that they were made, and are right again when they are. Answers
 * how many are not on this branch yet: until then the chain is read from where it parted.
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
