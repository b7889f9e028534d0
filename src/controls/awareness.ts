import type { Agent } from '../agents/agent.ts';
import { findAgent } from '../agents/agent-store.ts';
import { assert } from '../kernel/assert.ts';
import { isoTime } from '../kernel/clock.ts';
import { refuse } from '../kernel/refuse.ts';
import { findAgentKeys } from '../keys/agent-key-store.ts';
import type { Standings } from '../ledger/standings.ts';
import type { Sql } from '../store/sql.ts';
import { creditRemaining, loanState } from './credit-awareness.ts';
import { limitChain } from './limit-chain.ts';
import { type Resolved, resolveSpend, type SpendWish } from './resolve-spend.ts';
import type { StandingsReader } from './standings.ts';

export type Awareness = ReturnType<typeof createAwareness>;

/** A payment that a developer wonders about, by the number of the key that would ask. */
type Question = Omit<SpendWish, 'key'> & { readonly keyId: number | null };

/** What an agent may know of its own money, and its developer of what limits it. Nothing moves by asking. */
export function createAwareness(deps: { readonly sql: Sql; readonly standings: StandingsReader }) {
  const { sql, standings } = deps;

  async function requireStandings(agentId: number): Promise<Standings> {
    const found = await standings.read(agentId);
    assert(found !== undefined, 'every agent has a balance');
    return found;
  }

  /** Another developer's agent reads as absent. */
  async function requireOwn(accountId: string, agentId: number): Promise<Standings> {
    const agent = await findAgent(sql, { agentId, accountId });
    if (agent === undefined) throw refuse.agents.notFound();
    return requireStandings(agentId);
  }

  /** The caller has been admitted already. */
  async function requireCaller(agentId: number): Promise<[Agent, Standings]> {
    const [agent, found] = await Promise.all([
      findAgent(sql, { agentId }),
      requireStandings(agentId),
    ]);
    assert(agent !== undefined, 'agents are never deleted');
    return [agent, found];
  }

  async function requireKey(agentId: number, keyId: number): Promise<SpendWish['key']> {
    const key = (await findAgentKeys(sql, agentId)).find(({ id }) => id === keyId);
    if (key === undefined) throw refuse.keys.notFound();
    return key;
  }

  return {
    async creditRemaining(agentId: number) {
      const [agent, found] = await requireCaller(agentId);
      if (agent.walletAddress === null) throw refuse.controls.noCreditLimit();
      return creditRemaining(agent, found);
    },

    loanState: async (agentId: number) => loanState(...(await requireCaller(agentId))),

    async limitChain(accountId: string, agentId: number) {
      const found = await requireOwn(accountId, agentId);
      return { agentId, asOf: isoTime(found.moment.nowMs), chain: limitChain(found) };
    },

    async resolve(
      accountId: string,
      agentId: number,
      { keyId, ...wish }: Question,
    ): Promise<Resolved> {
      const found = await requireOwn(accountId, agentId);
      const key = keyId === null ? null : await requireKey(agentId, keyId);
      return resolveSpend(found, { ...wish, key });
    },
  };
}
