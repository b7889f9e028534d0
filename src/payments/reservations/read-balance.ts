import type { Agent } from '../../accounts/agents/agent.ts';
import { balanceRecord } from '../../accounts/agents/agent-record.ts';
import { assert } from '../../kernel/assert.ts';
import { type Clock, nowSeconds } from '../../kernel/clock.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { UsdcBalances } from '../../platform/chain/usdc-balances.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { SpendStateReader } from '../../spend/limits/spend-state.ts';
import { sumPending } from './reservation-store.ts';

type Deps = {
  readonly sql: Sql;
  readonly ledger: Pick<Ledger, 'settled'>;
  readonly spendState: SpendStateReader;
  readonly balances: UsdcBalances;
  readonly clock: Clock;
};

/** Returns an agent's balance object: the ledger's figures, and the wallet's balance when it can be read. */
export async function readBalance(deps: Deps, agent: Agent) {
  const { walletAddress } = agent;
  await deps.ledger.settled(agent.id);
  const [spendState, pendingRaw, walletUsdcRaw] = await Promise.all([
    deps.spendState.read(agent.id),
    sumPending(deps.sql, agent.id),
    walletAddress === null ? null : deps.balances.read(walletAddress),
  ]);
  assert(spendState !== undefined, 'every agent has a balance');
  const { availableRaw, reservedRaw } = spendState;
  const money = { availableRaw, reservedRaw, pendingRaw };
  return balanceRecord(agent, money, walletUsdcRaw, nowSeconds(deps.clock));
}
