import type { Clock } from '../../kernel/clock.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { agentErrors } from '../errors.ts';
import type { Invalidation } from '../keys/invalidation.ts';
import type { Invalidations } from '../keys/invalidations.ts';
import { type Agent, planStatus, type WantedStatus } from './agent.ts';
import { saveStatus } from './agent-store.ts';
import { requireLockedAgent } from './require-agent.ts';

/** Further writes in the sql transaction of a change. */
export type Alongside = (tx: Queryable) => Promise<void>;

/**
 * Suspends or resumes an agent that was just read, from the next hold on in every process. Throws 409 when another request has
 * changed the status meanwhile.
 */
export async function changeStatus(
  deps: { readonly clock: Clock; readonly invalidations: Invalidations },
  agent: Agent,
  to: WantedStatus,
  reason: string,
  alongside?: Alongside,
): Promise<Agent> {
  const plan = planStatus(agent.status, to, reason);
  if (plan.kind === 'unchanged') return agent;
  if (plan.kind === 'impossible') throw agentErrors.invalidStatusTransition(agent.status, to);
  const notice: Invalidation = {
    kind: to === 'suspended' ? 'agent_stopped' : 'agent_changed',
    agentId: agent.id,
  };
  return deps.invalidations.commit(notice, async (tx) => {
    const now = new Date(deps.clock.now());
    const saved = await saveStatus(tx, agent, to, plan.suspendedReason, now);
    if (saved === undefined) throw agentErrors.statusConflict();
    await alongside?.(tx);
    return saved;
  });
}

export type CloseDeps = {
  readonly clock: Clock;
  readonly invalidations: Invalidations;
  /** Ends the agent's monthly charges (rented numbers), in the sql transaction that closes the agent. */
  readonly windDown: (tx: Queryable, agentId: number) => Promise<void>;
};

/**
 * Closes an agent for good and returns it: every process refuses its holds after the commit, and its rented number is released.
 * Closing a closed agent changes nothing.
 */
export async function markClosed(
  deps: CloseDeps,
  agent: Agent,
  alongside?: Alongside,
): Promise<Agent> {
  const notice: Invalidation = { kind: 'agent_stopped', agentId: agent.id };
  const closed = await deps.invalidations.commit(notice, async (tx) => {
    const current = await requireLockedAgent(tx, { agentId: agent.id });
    if (current.status === 'closed') return undefined;
    await deps.windDown(tx, agent.id);
    await alongside?.(tx);
    return saveStatus(tx, current, 'closed', null, new Date(deps.clock.now()));
  });
  // Another process may have closed the agent just before. This process must also stop its holds before the balance is paid
  // out.
  if (closed === undefined) deps.invalidations.notify(notice);
  return closed ?? agent;
}
