import { utilizationBps } from '../../ledger/rules/spend-events.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import type { SpendStateReader } from '../../spend/limits/spend-state.ts';
import type { Agent } from '../agents/agent.ts';
import { findRollups } from './rollup-store.ts';

/** Returns a summary of each agent: available amount, recent spending, number of keys and phone number. */
export async function readRollups(
  deps: { readonly sql: Queryable; readonly spendState: SpendStateReader },
  agents: readonly Agent[],
) {
  const agentIds = agents.map(({ id }) => id);
  const [rollups, available] = await Promise.all([
    findRollups(deps.sql, agentIds),
    deps.spendState.available(agentIds),
  ]);
  return agents.map(({ id, name, status }) => {
    const rollup = rollups.get(id);
    const { recentSpendRaw = 0n, keys = 0, phone = null } = rollup ?? {};
    return {
      id,
      name,
      status,
      balanceRaw: (available.get(id) ?? 0n).toString(),
      spend30dRaw: recentSpendRaw.toString(),
      utilizationBps: rollup === undefined ? 0 : utilizationBps(rollup),
      phone,
      keysCount: keys,
    };
  });
}
