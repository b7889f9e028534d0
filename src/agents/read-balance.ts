import type { UsdcBalances } from '../chain/usdc-balances.ts';
import type { StandingsReader } from '../controls/standings.ts';
import { assert } from '../kernel/assert.ts';
import { type Clock, nowSeconds } from '../kernel/clock.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { sumPending } from '../proxy/reservation-store.ts';
import type { Sql } from '../store/sql.ts';
import type { Agent } from './agent.ts';
import { balanceRecord } from './agent-record.ts';

type Deps = {
  readonly sql: Sql;
  readonly ledger: Pick<Ledger, 'settled'>;
  readonly standings: StandingsReader;
  readonly balances: UsdcBalances;
  readonly clock: Clock;
};

/** An agent's balance object: the ledger's figures and, where it can be read, the wallet's. */
export async function readBalance(deps: Deps, agent: Agent) {
  const { walletAddress } = agent;
  await deps.ledger.settled(agent.id);
  const [standings, pendingRaw, walletUsdcRaw] = await Promise.all([
    deps.standings.read(agent.id),
    sumPending(deps.sql, agent.id),
    walletAddress === null ? null : deps.balances.read(walletAddress),
  ]);
  assert(standings !== undefined, 'every agent has a balance');
  const { availableRaw, reservedRaw } = standings;
  const money = { availableRaw, reservedRaw, pendingRaw };
  return balanceRecord(agent, money, walletUsdcRaw, nowSeconds(deps.clock));
}
