import type { Clock } from '../../kernel/clock.ts';
import { errors } from '../../kernel/errors.ts';
import type { Invalidation } from '../keys/invalidation.ts';
import type { Invalidations } from '../keys/invalidations.ts';
import { type Agent, planStatus, type WantedStatus } from './agent.ts';
import { lockAgent, saveStatus } from './agent-store.ts';

/**
 * Suspends or resumes an agent that was just read. Takes effect with the next hold in every process;
 * a change that another request made meanwhile wins and this one is told so.
 */
export async function changeStatus(
  deps: { readonly clock: Clock; readonly invalidations: Invalidations },
  agent: Agent,
  to: WantedStatus,
  reason: string,
): Promise<Agent> {
  const plan = planStatus(agent.status, to, reason);
  if (plan.kind === 'unchanged') return agent;
  if (plan.kind === 'impossible') throw errors.agents.invalidStatusTransition(agent.status, to);
  const notice: Invalidation = {
    kind: to === 'suspended' ? 'agent_stopped' : 'agent_changed',
    agentId: agent.id,
  };
  return deps.invalidations.commit(notice, async (tx) => {
    const now = new Date(deps.clock.now());
    const saved = await saveStatus(tx, agent, to, plan.suspendedReason, now);
    if (saved === undefined) throw errors.agents.statusConflict();
    return saved;
  });
}

/**
 * Closes an agent for good: from the commit on every process refuses its holds. May be repeated; answers the agent as it
 * is closed.
 */
export async function markClosed(
  deps: { readonly clock: Clock; readonly invalidations: Invalidations },
  agent: Agent,
): Promise<Agent> {
  const notice: Invalidation = { kind: 'agent_stopped', agentId: agent.id };
  const closed = await deps.invalidations.commit(notice, async (tx) => {
    const current = await lockAgent(tx, { agentId: agent.id });
    if (current === undefined) throw errors.agents.notFound();
    if (current.status === 'closed') return undefined;
    return saveStatus(tx, current, 'closed', null, new Date(deps.clock.now()));
  });
  // Another process may have closed it a moment ago: this one must know before the balance is taken out.
  if (closed === undefined) deps.invalidations.tell(notice);
  return closed ?? agent;
}
