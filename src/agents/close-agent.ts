import type { Clock } from '../kernel/clock.ts';
import { refuse } from '../kernel/refuse.ts';
import type { Invalidation } from '../keys/invalidation.ts';
import type { Invalidations } from '../keys/invalidations.ts';
import { type EmptyDeps, emptyClosed } from '../payouts/empty-closed.ts';
import { findPaidAtClose } from '../payouts/payout-store.ts';
import type { Payouts } from '../payouts/payouts.ts';
import type { Agent } from './agent.ts';
import { lockAgent, saveStatus } from './agent-store.ts';

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

type Deps = EmptyDeps & {
  readonly clock: Clock;
  readonly invalidations: Invalidations;
  readonly payouts: Pick<Payouts, 'hurry'>;
};

/**
 * Closes an agent for good: no hold is given from the commit on, then what it has left is taken out of the ledger, and
 * what of it deposits back is on its way to the developer. Its keys still say who calls, so that they hear
 * `account_closed`. A repeat answers what is known by then; it is not needed for what work in flight, or a late
 * deposit, leaves behind: that is taken out by itself.
 */
export async function closeAgent(deps: Deps, agent: Agent): Promise<Closed> {
  const notice: Invalidation = { kind: 'agent_stopped', agentId: agent.id };
  const closed = await deps.invalidations.commit(notice, async (tx) => {
    const current = await lockAgent(tx, { agentId: agent.id });
    if (current === undefined) throw refuse.agents.notFound();
    if (current.status === 'closed') return undefined;
    return saveStatus(tx, current, 'closed', null, new Date(deps.clock.now()));
  });
  // Another process may have closed it a moment ago: before the balance is taken out it must be known here.
  if (closed === undefined) deps.invalidations.tell(notice);
  await emptyClosed(deps, closed ?? agent);
  await deps.payouts.hurry(agent.id);
  const paid = await findPaidAtClose(deps.sql, agent.id);
  return {
    status: 'closed',
    ...{ loansRepaid: 0, loansRemaining: 0, remainingLoans: [], repayTxHashes: [] },
    transferTxHash: paid?.txHash ?? null,
    usdcTransferred: paid?.amountRaw.toString() ?? null,
  };
}
