import { lockAgent } from '../agents/agent-store.ts';
import {
  type BudgetView,
  type BudgetWish,
  endKeyBudget,
  readKeyBudgets,
  setKeyBudget,
} from '../controls/key-budgets.ts';
import { assert } from '../kernel/assert.ts';
import { refuse } from '../kernel/refuse.ts';
import type { Queryable, Sql } from '../store/sql.ts';
import { findAgentKeys } from './agent-key-store.ts';
import type { Invalidations } from './invalidations.ts';
import type { AgentKey, KeyOwner } from './key.ts';

export type AgentKeyBudgets = ReturnType<typeof createAgentKeyBudgets>;

type Deps = {
  readonly sql: Sql;
  readonly invalidations: Invalidations;
  /** The database's time, Unix milliseconds. */
  readonly now: () => number;
};

/** What a key that works may spend. A key that does not work any more, or never did, reads as absent. */
export function createAgentKeyBudgets({ invalidations, now }: Deps) {
  async function change<T>(
    owner: KeyOwner,
    agentId: number,
    keyId: number,
    work: (tx: Queryable, key: AgentKey) => Promise<T>,
  ): Promise<T> {
    return invalidations.commit({ kind: 'agent_changed', agentId }, async (tx) => {
      const agent = await lockAgent(tx, { agentId, accountId: owner.accountId });
      if (agent === undefined) throw refuse.agents.notFound();
      const key = (await findAgentKeys(tx, agentId)).find(({ id }) => id === keyId);
      if (key === undefined) throw refuse.keys.notFound();
      if (agent.status === 'closed') throw refuse.credential.accountClosed();
      return work(tx, key);
    });
  }

  return {
    async set(
      owner: KeyOwner,
      agentId: number,
      keyId: number,
      wish: BudgetWish,
    ): Promise<BudgetView> {
      const agent = { agentId, accountId: owner.accountId };
      return change(owner, agentId, keyId, async (tx, key) => {
        await setKeyBudget(tx, agent, key.rootId, wish, now());
        const budget = (await readKeyBudgets(tx, agent, now())).get(key.rootId);
        assert(budget !== undefined, 'a budget that was set is there');
        return budget;
      });
    },

    async clear(owner: KeyOwner, agentId: number, keyId: number): Promise<void> {
      const agent = { agentId, accountId: owner.accountId };
      await change(owner, agentId, keyId, async (tx, key) => {
        if (!(await endKeyBudget(tx, agent, key.rootId, now())))
          throw refuse.controls.budgetNotFound();
        return key;
      });
    },
  };
}
