import { assert } from '../../kernel/assert.ts';
import { insertAgentFunds } from '../../ledger/store/agent-funds.ts';
import { lockAccount } from '../developers/developer-store.ts';
import { agentErrors } from '../errors.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import type { Agent } from './agent.ts';
import { countOpenAgents, findAgent, insertAgent } from './agent-store.ts';
import { type ProvisionDeps, provisionAgent } from './provision-agent.ts';

export type AgentRequest = {
  readonly name: string;
  /** Credit limit. Absent: the agent is prepaid and borrows nothing. */
  readonly borrowLimitRaw?: bigint | undefined;
  /** Bounds of borrowing. A prepaid agent needs no bounds. */
  readonly maxRateBps?: number | undefined;
  readonly expirySeconds?: number | undefined;
};

/**
 * Creates an agent with a wallet and an empty balance. The limit of agents and the unique name hold under concurrent requests;
 * when provisioning fails, the agent stays pending and `retryProvisions` tries again.
 */
export async function createAgent(
  deps: ProvisionDeps,
  accountId: string,
  wanted: AgentRequest,
): Promise<Agent> {
  if (deps.wallets === undefined) throw agentErrors.featuresUnavailable();
  if (deps.delegation === undefined) throw agentErrors.creationUnavailable();
  const pending = await reserve(deps, accountId, wanted);
  await provisionAgent(deps, pending, 0);
  const agent = await findAgent(deps.sql, { agentId: pending.id });
  assert(agent !== undefined, 'agents are never deleted');
  return agent;
}

/**
 * Inserts an agent, if the account may have another. The account's row is locked while its agents are counted, so that
 * concurrent requests cannot exceed the limit.
 */
async function reserve(
  deps: ProvisionDeps,
  accountId: string,
  wanted: AgentRequest,
): Promise<Agent> {
  return deps.sql.begin(async (tx) => {
    await lockAccount(tx, accountId);
    if ((await countOpenAgents(tx, accountId)) >= ACCOUNT_LIMITS.agent.perDeveloper) {
      throw agentErrors.limitExceeded(
        ACCOUNT_LIMITS.agent.perDeveloper,
        'open agents for each developer',
      );
    }
    const agent = await insertAgent(tx, {
      accountId,
      name: wanted.name,
      fundingMode: wanted.borrowLimitRaw === undefined ? 'wallet' : 'credit_line',
      borrowLimitRaw: wanted.borrowLimitRaw ?? null,
      maxRateBps: wanted.maxRateBps ?? ACCOUNT_LIMITS.agent.prepaid.maxRateBps,
      expirySeconds: wanted.expirySeconds ?? ACCOUNT_LIMITS.agent.prepaid.expirySeconds,
      provisionNextAt: new Date(deps.clock.now() + ACCOUNT_LIMITS.provisioning.leaseMs),
    });
    if (agent === undefined) throw agentErrors.nameConflict(wanted.name);
    await insertAgentFunds(tx, { agentId: agent.id, accountId });
    return agent;
  }) as Promise<Agent>;
}
