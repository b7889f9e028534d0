import { assert } from '../../kernel/assert.ts';
import { nowSeconds } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/random.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import { utilizationBps } from '../../ledger/rules/spend-events.ts';
import { closeAgent } from '../../payments/payouts/close-agent.ts';
import type { Payouts } from '../../payments/payouts/payouts.ts';
import { readBalance } from '../../payments/reservations/read-balance.ts';
import type { UsdcBalances } from '../../platform/chain/usdc-balances.ts';
import type { SpendStateReader } from '../../spend/limits/spend-state.ts';
import type { Agent, WantedStatus } from '../agents/agent.ts';
import { agentRecord } from '../agents/agent-record.ts';
import { countRecentCharges, findAgent, findAgents } from '../agents/agent-store.ts';
import { type CloseDeps, changeStatus } from '../agents/change-status.ts';
import { type AgentRequest, createAgent } from '../agents/create-agent.ts';
import type { ProvisionDeps } from '../agents/provision-agent.ts';
import { requireAgent } from '../agents/require-agent.ts';
import { agentErrors } from '../errors.ts';
import { renewDelegation } from '../wallets/renew-delegation.ts';
import { readRollups } from './read-rollups.ts';

export type AgentsDeps = ProvisionDeps &
  CloseDeps & {
    readonly random: Random;
    readonly ledger: Ledger;
    readonly payouts: Pick<Payouts, 'payNow'>;
    readonly balances: UsdcBalances;
    readonly spendState: SpendStateReader;
  };

export type Agents = ReturnType<typeof createAgents>;

/** Creates the agents of developers. Another developer's agent reads as absent in every method. */
export function createAgents(deps: AgentsDeps) {
  const { sql } = deps;
  const record = (agent: Agent) => agentRecord(agent, nowSeconds(deps.clock));

  async function requireOwn(accountId: string, agentId: number): Promise<Agent> {
    requireFeatures(deps);
    return requireAgent(sql, { agentId, accountId });
  }

  /** Returns an agent that has been admitted already. */
  async function requireCaller(agentId: number): Promise<Agent> {
    const agent = await findAgent(sql, { agentId });
    assert(agent !== undefined, 'agents are never deleted');
    return agent;
  }

  return {
    async create(accountId: string, wanted: AgentRequest) {
      const agent = await createAgent(deps, accountId, wanted);
      return { ...record(agent), agent: record(agent) };
    },

    async list(accountId: string) {
      requireFeatures(deps);
      return (await findAgents(sql, accountId)).map(record);
    },

    async rollup(accountId: string) {
      requireFeatures(deps);
      return readRollups(deps, await findAgents(sql, accountId));
    },

    async detail(accountId: string, agentId: number) {
      const agent = await requireOwn(accountId, agentId);
      return { agent: record(agent), ...(await activityOf(deps, agent)) };
    },

    async setStatus(accountId: string, agentId: number, to: WantedStatus) {
      const agent = await requireOwn(accountId, agentId);
      const { id, status, suspendedReason } = await changeStatus(
        deps,
        agent,
        to,
        'developer_manual',
      );
      return { id, status, suspendedReason };
    },

    /** Renews the delegation of an agent. Without `expirySeconds` it lasts as long as the previous delegation. */
    async renewDelegation(accountId: string, agentId: number, expirySeconds?: number) {
      const agent = await requireOwn(accountId, agentId);
      const renewed = record(
        await renewDelegation(deps, agent, expirySeconds ?? agent.expirySeconds),
      );
      return { ...renewed, agent: renewed };
    },

    async close(accountId: string, agentId: number) {
      return closeAgent(deps, await requireOwn(accountId, agentId));
    },

    /** Closes the calling agent like `close`. */
    async closeSelf(agentId: number) {
      requireFeatures(deps);
      return closeAgent(deps, await requireCaller(agentId));
    },

    /** Returns the calling agent's own balance. */
    balance: async (agentId: number) => readBalance(deps, await requireCaller(agentId)),
  };
}

/** Returns the utilization of an agent's money and its recent charges. */
async function activityOf({ sql, spendState }: AgentsDeps, agent: Agent) {
  const found = await spendState.read(agent.id);
  assert(found !== undefined, 'every agent has a balance');
  return {
    creditUsed: '0',
    utilizationBps: utilizationBps(found.state),
    recentTransactionCount24h: await countRecentCharges(sql, agent.id),
    sessionSpend: sessionSpend(agent),
  };
}

function sessionSpend({ session }: Agent) {
  if (session === null) return { limitRaw: null, startedAtUnix: null };
  const startedAtUnix = Math.floor(session.startedAt.getTime() / 1_000);
  return { limitRaw: session.limitRaw.toString(), startedAtUnix };
}

/**
 * Throws when no wallet provider is set, which the agent's record needs. Other data of an agent is served without a provider.
 */
function requireFeatures(deps: ProvisionDeps): void {
  if (deps.wallets === undefined) throw agentErrors.featuresUnavailable();
}
