import type { UsdcBalances } from '../chain/usdc-balances.ts';
import { assert } from '../kernel/assert.ts';
import { type Clock, nowSeconds } from '../kernel/clock.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Agent } from './agent.ts';
import { balanceRecord } from './agent-record.ts';

/** An agent's balance object: the ledger's figures and, where it can be read, the wallet's. */
export async function readBalance(
  deps: { readonly ledger: Ledger; readonly balances: UsdcBalances; readonly clock: Clock },
  agent: Agent,
) {
  const { walletAddress } = agent;
  const [funds, walletUsdcRaw] = await Promise.all([
    deps.ledger.funds(agent.id),
    walletAddress === null ? null : deps.balances.read(walletAddress),
  ]);
  assert(funds !== undefined, 'every agent has a balance');
  return balanceRecord(agent, funds, walletUsdcRaw, nowSeconds(deps.clock));
}
