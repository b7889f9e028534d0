import { type Clock, nowSeconds } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Agent } from '../agents/agent.ts';
import { saveDelegation } from '../agents/agent-store.ts';
import { agentErrors, credentialErrors } from '../errors.ts';
import type { Invalidation } from '../keys/invalidation.ts';
import type { Invalidations } from '../keys/invalidations.ts';
import { type Delegation, delegate } from './delegation.ts';

type RenewDeps = {
  readonly clock: Clock;
  readonly log: Log;
  readonly invalidations: Invalidations;
  /** Delegation of borrowing to the facilitator. Undefined: no facilitator key is configured. */
  readonly delegation: Delegation | undefined;
};

/**
 * Delegates for an agent that was just read, from now on for `expirySeconds`, whether or not the old delegation has
 * ended. The grant comes first: a failure between the two steps leaves the agent as it was, and a repeat mends it.
 */
export async function renewDelegation(
  deps: RenewDeps,
  agent: Agent,
  expirySeconds: number,
): Promise<Agent> {
  if (agent.status === 'closed') throw credentialErrors.accountClosed();
  if (agent.status === 'pending_delegation' || agent.walletAddress === null) {
    throw agentErrors.notProvisioned();
  }
  const operatorExpiry = nowSeconds(deps.clock) + expirySeconds;
  const delegationTxHash = await grant(deps, agent, agent.walletAddress, operatorExpiry);
  const notice: Invalidation = { kind: 'agent_changed', agentId: agent.id };
  return deps.invalidations.commit(notice, async (tx) => {
    const renewed = { expirySeconds, operatorExpiry, delegationTxHash };
    const saved = await saveDelegation(tx, agent.id, renewed, new Date(deps.clock.now()));
    if (saved === undefined) throw agentErrors.statusConflict();
    return saved;
  });
}

async function grant(
  { delegation, log }: RenewDeps,
  agent: Agent,
  wallet: string,
  expiry: number,
): Promise<string | null> {
  if (delegation === undefined) throw agentErrors.creationUnavailable();
  try {
    return await delegate(delegation, agent, wallet, expiry);
  } catch (err) {
    log.warn({ err, agentId: agent.id }, 'a delegation could not be renewed');
    throw agentErrors.renewalFailed(agent.id);
  }
}
