import type { Agent } from '../../accounts/agents/agent.ts';
import { type Alongside, type CloseDeps, markClosed } from '../../accounts/agents/change-status.ts';
import { type EmptyDeps, emptyClosed } from './empty-closed.ts';
import { findPaidAtClose } from './payout-store.ts';
import type { Payouts } from './payouts.ts';

/** Answer of a close, with the sum and the last transaction of the payouts that were handed to the chain so far. */
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
 * Closes an agent for good: from the commit on it gets no hold and rents no number. Its spendable balance leaves the ledger,
 * and the part that deposits back is paid out to the developer. Its keys still authenticate, so that callers get
 * `account_closed`. A repeat returns the state known by then. Money that comes back later, from work in flight or a late
 * deposit, is withdrawn without a repeat.
 */
export async function closeAgent(deps: Deps, agent: Agent, alongside?: Alongside): Promise<Closed> {
  const closed = await markClosed(deps, agent, alongside);
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
