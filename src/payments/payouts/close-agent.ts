import type { Agent } from '../../accounts/agents/agent.ts';
import { type CloseDeps, markClosed } from '../../accounts/agents/change-status.ts';
import { type EmptyDeps, emptyClosed } from './empty-closed.ts';
import { findPaidAtClose } from './payout-store.ts';
import type { Payouts } from './payouts.ts';

/** What a close answers: what went to the developer on chain, as far as it has been handed over. */
export type Closed = {
  readonly status: 'closed';
  readonly loansRepaid: number;
  readonly loansRemaining: number;
  readonly remainingLoans: readonly never[];
  readonly repayTxHashes: readonly never[];
  readonly transferTxHash: string | null;
  readonly usdcTransferred: string | null;
};

type Deps = EmptyDeps & CloseDeps & { readonly payouts: Pick<Payouts, 'payNow'> };

/**
 * Closes an agent for good: no hold is given and no number is rented from the commit on, then what it has left is taken out of the ledger, and
 * what of it deposits back is on its way to the developer. Its keys still say who calls, so that they hear
 * `account_closed`. A repeat answers what is known by then; it is not needed for what work in flight, or a late
 * deposit, leaves behind: that is taken out by itself.
 */
export async function closeAgent(deps: Deps, agent: Agent): Promise<Closed> {
  const closed = await markClosed(deps, agent);
  await emptyClosed(deps, closed);
  await deps.payouts.payNow(agent.id);
  const paid = await findPaidAtClose(deps.sql, agent.id);
  return {
    status: 'closed',
    loansRepaid: 0,
    loansRemaining: 0,
    remainingLoans: [],
    repayTxHashes: [],
    transferTxHash: paid?.txHash ?? null,
    usdcTransferred: paid?.amountRaw.toString() ?? null,
  };
}
