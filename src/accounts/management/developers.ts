import { type Clock, nowSeconds } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import type { UsdcBalances } from '../../platform/chain/usdc-balances.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { SpendStateReader } from '../../spend/limits/spend-state.ts';
import { agentRecord } from '../agents/agent-record.ts';
import { findAgents } from '../agents/agent-store.ts';
import type { Accounts } from '../developers/accounts.ts';
import type { AiTools } from '../developers/ai-tools.ts';
import { developerRecord } from '../developers/developer.ts';
import { saveDisplayName } from '../developers/developer-store.ts';
import { ownerWalletOf } from '../developers/owner-wallet.ts';
import type { Sessions } from '../developers/session.ts';
import { endAllSessions, endSession } from '../developers/session-store.ts';
import type { KeyOwner } from '../keys/key.ts';
import type { Member } from './team/team.ts';
import { findUsage } from './usage-store.ts';

export type Developers = ReturnType<typeof createDevelopers>;

/** Creates the sign-in and sign-out of developers, and the reads of their own account. */
export function createDevelopers(deps: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly random: Random;
  readonly accounts: Accounts;
  readonly aiTools: Pick<AiTools, 'flush'>;
  readonly sessions: Sessions;
  readonly balances: UsdcBalances;
  readonly spendState: SpendStateReader;
}) {
  const { sql } = deps;

  return {
    /** Opens a session for a wallet whose signature was just verified. */
    async signIn(owner: KeyOwner) {
      const developer = await deps.accounts.ofWallet(owner.wallet);
      const { wallet, sessionGeneration: generation } = developer;
      const id = newId(deps.random, 'sess_');
      return {
        developer: developerRecord(developer),
        token: await deps.sessions.issue({ wallet, id, generation }),
      };
    },

    /** Ends the session with this id. Without an id it ends every session of the wallet, in whichever account it acted. */
    async signOut({ wallet }: KeyOwner, sessionId: string | undefined): Promise<void> {
      const { accountId } = await deps.accounts.ofWallet(wallet);
      if (sessionId === undefined) return endAllSessions(sql, accountId);
      await endSession(sql, { accountId, id: sessionId, now: new Date(deps.clock.now()) });
    },

    async rename(accountId: string, displayName: string) {
      const renamed = await saveDisplayName(sql, accountId, displayName);
      return { walletAddress: renamed.wallet, displayName: renamed.displayName, accountId };
    },

    /** Returns the account that the member acts for, and the role that the member has in it. */
    async profile({ accountId, role }: Member) {
      await deps.aiTools.flush();
      const [developer, agents, usage] = await Promise.all([
        deps.accounts.ofId(accountId),
        findAgents(sql, accountId),
        findUsage(sql, accountId),
      ]);
      const nowSec = nowSeconds(deps.clock);
      const record = developerRecord(developer);
      return {
        developer: {
          ...record,
          role,
          aiToolConnectedAt: developer.aiToolConnectedAt?.toISOString() ?? null,
        },
        agents: agents.map((agent) => ({ ...agentRecord(agent, nowSec), creditUsed: '0' })),
        // The same address is repeated here, because one of the clients reads it at the top level.
        walletAddress: record.walletAddress,
        displayName: record.displayName,
        registeredAt: record.createdAt,
        usage: {
          totalRequests: usage.totalRequests,
          totalSpentRaw: usage.totalSpentRaw.toString(),
        },
      };
    },

    /**
     * Returns the balances of an account as digit strings. A wallet's amount is the last known amount, and 0 when it was never
     * read.
     */
    async balances(accountId: string) {
      const agents = (await findAgents(sql, accountId)).filter(isOpen);
      const accountWallet = await ownerWalletOf(sql, accountId);
      const read = async (wallet: string | null) =>
        wallet === null ? 0n : ((await deps.balances.lastKnown(wallet)) ?? 0n);
      const [own, available, ...wallets] = await Promise.all([
        read(accountWallet),
        deps.spendState.available(agents.map((agent) => agent.id)),
        ...agents.map((agent) => read(agent.walletAddress)),
      ]);
      return {
        developerWalletBalanceRaw: own.toString(),
        agentWalletsBalanceRaw: sum(wallets).toString(),
        apiCreditsAvailableRaw: sum([...available.values()]).toString(),
        currency: 'USDC',
        decimals: 6,
      };
    },
  };
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((a, b) => a + b, 0n);

const isOpen = (agent: { readonly status: string }): boolean => agent.status !== 'closed';
