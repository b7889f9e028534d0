import type { StandingsReader } from '../controls/standings.ts';
import { utilizationBps } from '../ledger/spend-events.ts';
import type { Queryable } from '../store/sql.ts';
import type { Agent } from './agent.ts';
import { findRollups } from './rollup-store.ts';

/** Agents at one look. Telephone numbers are not part of this server version. */
export async function readRollups(
  deps: { readonly sql: Queryable; readonly standings: StandingsReader },
  agents: readonly Agent[],
) {
  const agentIds = agents.map(({ id }) => id);
  const [rollups, available] = await Promise.all([
    findRollups(deps.sql, agentIds),
    deps.standings.available(agentIds),
  ]);
  return agents.map(({ id, name, status }) => {
    const rollup = rollups.get(id);
    const { recentSpendRaw = 0n, keys = 0 } = rollup ?? {};
    return {
      ...{ id, name, status },
      balanceRaw: (available.get(id) ?? 0n).toString(),
      spend30dRaw: recentSpendRaw.toString(),
      utilizationBps: rollup === undefined ? 0 : utilizationBps(rollup),
      phone: null,
      keysCount: keys,
    };
  });
}
