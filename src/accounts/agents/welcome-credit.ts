import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import type { Agent } from './agent.ts';
import { hasEarlierAgent } from './agent-store.ts';

/**
 * Credits the first agent of an account, once. No deposit backs the credit: it buys what this server sells, pays no vendor and is
 * never withdrawn. Repeats credit nothing, since the reference names the account.
 */
export async function giveWelcomeCredit(
  { ledger, sql }: { readonly ledger: Pick<Ledger, 'credit'>; readonly sql: Queryable },
  { accountId, id: agentId }: Pick<Agent, 'id' | 'accountId'>,
): Promise<void> {
  if (await hasEarlierAgent(sql, { accountId, agentId })) return;
  const { welcomeRaw: amountRaw } = ACCOUNT_LIMITS.agent;
  await ledger.credit({ agentId, amountRaw, reference: `welcome:${accountId}` });
}
