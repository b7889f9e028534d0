import { ApiError } from '../../kernel/api-error.ts';
import type { Worker } from '../../kernel/schedule.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import { findAgent } from './agent-store.ts';
import { type ProvisionDeps, provisionAgent } from './provision-agent.ts';
import { claimProvisions } from './provision-store.ts';

/** Creates the worker that retries the provisioning of agents whose wallet or delegation failed. */
export const retryProvisions = (deps: ProvisionDeps): Worker => ({
  name: 'retry-delegations',
  everyMs: ACCOUNT_LIMITS.provisioning.pollMs,
  tick: () => retryDue(deps),
});

/**
 * Makes one bounded pass over the pending agents that are due. Each agent is claimed for a lease, so that processes share the
 * work. A failed agent is retried with growing, bounded delays until it succeeds or is closed.
 */
async function retryDue(deps: ProvisionDeps): Promise<void> {
  if (deps.wallets === undefined || deps.delegation === undefined) return;
  const now = deps.clock.now();
  const leasedUntil = new Date(now + ACCOUNT_LIMITS.provisioning.leaseMs);
  for (const due of await claimProvisions(deps.sql, new Date(now), leasedUntil)) {
    const agent = await findAgent(deps.sql, { agentId: due.agentId });
    if (agent === undefined) continue;
    try {
      await provisionAgent(deps, agent, due.attempts);
    } catch (error) {
      // A refusal was logged and has postponed the agent. Any other error is a bug, which the scheduler reports.
      if (!(error instanceof ApiError)) throw error;
    }
  }
}
