import type { Queryable } from '../store/sql.ts';
import type { Agent } from './agent.ts';
import { findRollups } from './rollup-store.ts';

/** Agents at one look. Telephone numbers are not part of this server version. */
export async function readRollups(sql: Queryable, agents: readonly Agent[]) {
  const rollups = await findRollups(
    sql,
    agents.map(({ id }) => id),
  );
  return agents.map(({ id, name, status }) => {
    const { spendableRaw = 0n, recentSpendRaw = 0n, keys = 0 } = rollups.get(id) ?? {};
    return {
      ...{ id, name, status },
      balanceRaw: spendableRaw.toString(),
      spend30dRaw: recentSpendRaw.toString(),
      phone: null,
      keysCount: keys,
    };
  });
}
