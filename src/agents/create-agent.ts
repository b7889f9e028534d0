import { lockAccount } from '../developers/developer-store.ts';
import { assert } from '../kernel/assert.ts';
import { LIMITS } from '../kernel/limits.ts';
import { refuse } from '../kernel/refuse.ts';
import { insertAgentFunds } from '../store/ledger-store.ts';
import type { Agent } from './agent.ts';
import { countOpenAgents, findAgent, insertAgent } from './agent-store.ts';
import { type ProvisionDeps, provisionAgent } from './provision-agent.ts';

export type AgentWish = {
  readonly name: string;
  /** Absent: a prepaid agent, which borrows nothing. */
  readonly borrowLimitRaw?: bigint | undefined;
  readonly maxRateBps: number;
  readonly expirySeconds: number;
};

/**
 * Creates an agent with its wallet and its empty balance. The cap and the name hold under any race.
 * When provisioning fails the row stays, pending, and is tried again by `retryProvisions`.
 */
export async function createAgent(
  deps: ProvisionDeps,
  accountId: string,
  wish: AgentWish,
): Promise<Agent> {
  if (deps.wallets === undefined) throw refuse.agents.featuresUnavailable();
  if (deps.delegation === undefined) throw refuse.agents.creationUnavailable();
  const pending = await reserve(deps, accountId, wish);
  await provisionAgent(deps, pending, 0);
  const agent = await findAgent(deps.sql, { agentId: pending.id });
  assert(agent !== undefined, 'agents are never deleted');
  return agent;
}

/** The account's row is held while its agents are counted, so that ten requests at once make five agents. */
async function reserve(deps: ProvisionDeps, accountId: string, wish: AgentWish): Promise<Agent> {
  return deps.sql.begin(async (tx) => {
    await lockAccount(tx, accountId);
    if ((await countOpenAgents(tx, accountId)) >= LIMITS.agentsPerDeveloper) {
      throw refuse.agents.limitExceeded(
        LIMITS.agentsPerDeveloper,
        'open agents for each developer',
      );
    }
    const agent = await insertAgent(tx, {
      accountId,
      name: wish.name,
      fundingMode: wish.borrowLimitRaw === undefined ? 'wallet' : 'credit_line',
      borrowLimitRaw: wish.borrowLimitRaw ?? null,
      maxRateBps: wish.maxRateBps,
      expirySeconds: wish.expirySeconds,
      provisionNextAt: new Date(deps.clock.now() + LIMITS.provisionLeaseMs),
    });
    if (agent === undefined) throw refuse.agents.nameConflict(wish.name);
    await insertAgentFunds(tx, { agentId: agent.id, accountId });
    return agent;
  }) as Promise<Agent>;
}
