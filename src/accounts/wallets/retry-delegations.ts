import { LIMITS } from '../../kernel/limits.ts';
import type { Worker } from '../../kernel/schedule.ts';
import type { ProvisionDeps } from '../agents/provision-agent.ts';
import { retryProvisions } from '../agents/retry-provisions.ts';

/** Agents whose wallet or delegation failed are provisioned again. */
export const retryDelegations = (deps: ProvisionDeps): Worker => ({
  name: 'retry-delegations',
  everyMs: LIMITS.provisionPollMs,
  tick: () => retryProvisions(deps),
});
