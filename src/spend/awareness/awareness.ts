import type { Agent } from '../../accounts/agents/agent.ts';
import { requireAgent } from '../../accounts/agents/require-agent.ts';
import { requireAgentKey } from '../../accounts/keys/require-agent-key.ts';
import { assert } from '../../kernel/assert.ts';
import { isoTime } from '../../kernel/clock.ts';
import type { SpendState } from '../../ledger/rules/spend-state.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { controlErrors } from '../errors.ts';
import { limitChain } from '../limits/limit-chain.ts';
import { type ResolvedSpend, resolveSpend, type SpendRequest } from '../limits/resolve-spend.ts';
import type { SpendStateReader } from '../limits/spend-state.ts';
import { creditRemaining, loanState } from './credit-awareness.ts';

export type Awareness = ReturnType<typeof createAwareness>;

/** Hypothetical payment with the id of the key that the agent would use. Null: no particular key. */
type Question = Omit<SpendRequest, 'key'> & { readonly keyId: number | null };

/** Creates the reads of an agent's money and limits, for the agent and its developer. They move no money. */
export function createAwareness(deps: {
  readonly sql: Sql;
  readonly spendState: SpendStateReader;
}) {
  const { sql, spendState } = deps;

  async function requireSpendState(agentId: number): Promise<SpendState> {
    const found = await spendState.read(agentId);
    assert(found !== undefined, 'every agent has a balance');
    return found;
  }

  /** Reads the state of a developer's agent. Throws as if the agent did not exist when it belongs to another developer. */
  async function requireOwn(accountId: string, agentId: number): Promise<SpendState> {
    await requireAgent(sql, { agentId, accountId });
    return requireSpendState(agentId);
  }

  /** Returns the agent and its spend state. The caller has been admitted already. */
  const requireCaller = (agentId: number): Promise<[Agent, SpendState]> =>
    Promise.all([requireAgent(sql, { agentId }), requireSpendState(agentId)]);

  return {
    async creditRemaining(agentId: number) {
      const [agent, found] = await requireCaller(agentId);
      if (agent.walletAddress === null) throw controlErrors.noCreditLimit();
      return creditRemaining(agent, found);
    },

    loanState: async (agentId: number) => loanState(...(await requireCaller(agentId))),

    async limitChain(accountId: string, agentId: number) {
      const found = await requireOwn(accountId, agentId);
      return { agentId, asOf: isoTime(found.position.nowMs), chain: limitChain(found) };
    },

    async resolve(
      accountId: string,
      agentId: number,
      { keyId, ...wanted }: Question,
    ): Promise<ResolvedSpend> {
      const found = await requireOwn(accountId, agentId);
      const key = keyId === null ? null : await requireAgentKey(sql, agentId, keyId);
      return resolveSpend(found, { ...wanted, key });
    },
  };
}
