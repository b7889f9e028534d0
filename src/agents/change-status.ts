import type { Clock } from '../kernel/clock.ts';
import { refuse } from '../kernel/refuse.ts';
import type { Invalidation } from '../keys/invalidation.ts';
import type { Invalidations } from '../keys/invalidations.ts';
import { type Agent, planStatus, type WantedStatus } from './agent.ts';
import { saveStatus } from './agent-store.ts';

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
  if (plan.kind === 'impossible') throw refuse.agents.invalidStatusTransition(agent.status, to);
  const notice: Invalidation = {
    kind: to === 'suspended' ? 'agent_stopped' : 'agent_changed',
    agentId: agent.id,
  };
  return deps.invalidations.commit(notice, async (tx) => {
    const now = new Date(deps.clock.now());
    const saved = await saveStatus(tx, agent, to, plan.suspendedReason, now);
    if (saved === undefined) throw refuse.agents.statusConflict();
    return saved;
  });
}
