import { assert } from '../../kernel/assert.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import { controlErrors } from '../../spend/errors.ts';
import {
  type BudgetRequest,
  type BudgetView,
  endKeyBudget,
  readKeyBudgets,
  setKeyBudget,
} from '../../spend/limits/key-budgets.ts';
import { requireAgent, requireLockedAgent } from '../agents/require-agent.ts';
import { credentialErrors } from '../errors.ts';
import type { Invalidations } from '../keys/invalidations.ts';
import type { AgentKey, KeyOwner } from '../keys/key.ts';
import { requireAgentKey } from '../keys/require-agent-key.ts';

export type AgentKeyBudgets = ReturnType<typeof createAgentKeyBudgets>;

type Deps = {
  readonly sql: Sql;
  readonly invalidations: Invalidations;
  /** Returns the database's time in Unix milliseconds. */
  readonly now: () => number;
};

/** Creates the changes of key budgets. A key that is revoked or never existed reads as absent. */
export function createAgentKeyBudgets({ sql, invalidations, now }: Deps) {
  async function change<T>(
    owner: KeyOwner,
    agentId: number,
    keyId: number,
    work: (tx: Queryable, key: AgentKey) => Promise<T>,
  ): Promise<T> {
    // Checked before the lock, so that the balance of another developer's agent is never locked.
    await requireAgent(sql, { agentId, accountId: owner.accountId });
    return invalidations.commit({ kind: 'agent_changed', agentId }, async (tx) => {
      const agent = await requireLockedAgent(tx, { agentId, accountId: owner.accountId });
      const key = await requireAgentKey(tx, agentId, keyId);
      if (agent.status === 'closed') throw credentialErrors.accountClosed();
      return work(tx, key);
    });
  }

  return {
    async set(
      owner: KeyOwner,
      agentId: number,
      keyId: number,
      wanted: BudgetRequest,
    ): Promise<BudgetView> {
      const agent = { agentId, accountId: owner.accountId };
      return change(owner, agentId, keyId, async (tx, key) => {
        await setKeyBudget(tx, agent, key.rootId, wanted, now());
        const budget = (await readKeyBudgets(tx, agent, now())).get(key.rootId);
        assert(budget !== undefined, 'a budget that was set is there');
        return budget;
      });
    },

    async clear(owner: KeyOwner, agentId: number, keyId: number): Promise<void> {
      const agent = { agentId, accountId: owner.accountId };
      await change(owner, agentId, keyId, async (tx, key) => {
        if (!(await endKeyBudget(tx, agent, key.rootId, now())))
          throw controlErrors.budgetNotFound();
        return key;
      });
    },
  };
}
