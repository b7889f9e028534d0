import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { refuse } from '../kernel/refuse.ts';
import type { Invalidation } from '../keys/invalidation.ts';
import type { Invalidations } from '../keys/invalidations.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Agent } from './agent.ts';
import { lockAgent, saveStatus } from './agent-store.ts';

/** What a close answers. Nothing goes to the developer but what deposits back, and there are none yet. */
export type Closed = {
  readonly status: 'closed';
  readonly loansRepaid: number;
  readonly loansRemaining: number;
  readonly remainingLoans: readonly never[];
  readonly repayTxHashes: readonly never[];
  readonly transferTxHash: null;
  readonly usdcTransferred: null;
};

const CLOSED: Closed = {
  status: 'closed',
  loansRepaid: 0,
  loansRemaining: 0,
  remainingLoans: [],
  repayTxHashes: [],
  transferTxHash: null,
  usdcTransferred: null,
};

type Deps = {
  readonly clock: Clock;
  readonly log: Log;
  readonly ledger: Ledger;
  readonly invalidations: Invalidations;
};

/**
 * Closes an agent for good: no hold is given from the commit on, then what it has left is taken out of
 * the ledger. Its keys still say who calls, so that they hear `account_closed`. May be repeated: a
 * repeat takes out what a crash, or work that was still in flight, left behind.
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
  await takeOut(deps, agent.id);
  return CLOSED;
}

/** Once for the close itself; whatever work in flight gave back after that is taken by itself. */
async function takeOut(deps: Deps, agentId: number): Promise<void> {
  const take = async (reference: string) => {
    const taken = await deps.ledger.withdrawAll({ agentId, reference });
    if (taken.withdrawnRaw > 0n) {
      const amountRaw = taken.withdrawnRaw.toString();
      deps.log.info({ agentId, reference, amountRaw }, 'closed agent emptied');
    }
    return taken;
  };
  const { funds } = await take(`close:${agentId}`);
  if (funds.spendableRaw > 0n) await take(`close:${agentId}:rest:${deps.clock.now()}`);
}
