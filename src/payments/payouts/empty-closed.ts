import { ownerWalletOf } from '../../accounts/developers/owner-wallet.ts';
import type { Log } from '../../kernel/log.ts';
import type { Random } from '../../kernel/random.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { type ClosedAgent, findFundsVersion } from './agent-page-store.ts';
import { newPayout } from './payout.ts';

export type EmptyDeps = {
  readonly sql: Sql;
  readonly random: Random;
  readonly log: Log;
  readonly ledger: Pick<Ledger, 'withdrawAll'>;
};

/**
 * Withdraws the whole balance of a closed agent from the ledger, and plans the payout of the part that its wallet backs to its
 * developer. May be repeated, also by several processes at once: each withdraws amounts that were credited or released since. A
 * payout is planned even when there is no chain to carry it now, so that no payout is left out.
 */
export async function emptyClosed(deps: EmptyDeps, agent: ClosedAgent): Promise<void> {
  const { id: agentId, walletAddress: wallet } = agent;
  const payee = await ownerWalletOf(deps.sql, agent.accountId);
  const take = async (reference: string) => {
    // An agent without a wallet never had a deposit, so there is no payout.
    const payout =
      wallet === null ? {} : { payout: newPayout(deps.random, 'close', { wallet, payee }) };
    const taken = await deps.ledger.withdrawAll({ agentId, reference, ...payout });
    if (taken.withdrawnRaw > 0n && !taken.isRepeat) {
      const amountRaw = taken.withdrawnRaw.toString();
      deps.log.info({ agentId, reference, amountRaw }, 'closed agent emptied');
    }
    return taken.funds.spendableRaw;
  };
  const restRaw = await take(`close:${agentId}`);
  if (restRaw === 0n) return;
  // Two processes that see the same remaining balance build the same reference, so only one of them withdraws the balance.
  await take(`close:${agentId}:rest:${await findFundsVersion(deps.sql, agentId)}`);
}
