import { assert } from '../../kernel/assert.ts';
import type { BalanceState } from '../../ledger/rules/change.ts';
import { walletFreeRaw } from '../../ledger/rules/decide-payment.ts';
import type { Breaker } from '../../platform/chain/breaker.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import type { SpendStateReader } from '../../spend/limits/spend-state.ts';
import type { AgentStatus } from '../agents/agent.ts';
import { requireAgent } from '../agents/require-agent.ts';
import { agentErrors } from '../errors.ts';

export type Funding = ReturnType<typeof createFunding>;

const CHAIN = { network: 'base', chainId: 8453, token: 'USDC' } as const;

/** Creates the read of an agent's deposit address, with warnings about anything that keeps a deposit from being seen. */
export function createFunding(deps: {
  readonly sql: Queryable;
  readonly spendState: Pick<SpendStateReader, 'read'>;
  readonly breaker: Pick<Breaker, 'check'>;
  readonly tokenContract: string;
  readonly dashboardUrl: string;
}) {
  const { sql, spendState, breaker, tokenContract, dashboardUrl } = deps;
  return {
    /** Reads the funding of an agent. Throws 404 when the agent belongs to another account. */
    async read(accountId: string, agentId: number) {
      const agent = await requireAgent(sql, { agentId, accountId });
      if (agent.walletAddress === null) throw agentErrors.notProvisioned();
      const found = await spendState.read(agentId);
      assert(found !== undefined, 'every agent has a balance');
      return {
        agentId,
        depositAddress: agent.walletAddress,
        ...CHAIN,
        tokenContract,
        forwardingEnabled: false,
        spendableBalance: found.availableRaw.toString(),
        warnings: [
          ...warningsOfChain(breaker),
          ...warningsOfCredit(found.state),
          ...WARNINGS_OF_STATUS[agent.status],
        ],
        dashboardUrl,
      };
    },
  };
}

function warningsOfChain(breaker: Pick<Breaker, 'check'>): string[] {
  const { kind, reasonText } = breaker.check();
  return kind === 'stale' ? [`Deposits are not seen at present: ${reasonText}.`] : [];
}

function warningsOfCredit(state: BalanceState): string[] {
  const freeRaw = walletFreeRaw(state);
  const backedRaw = freeRaw > 0n ? freeRaw : 0n;
  if (state.spendableRaw <= backedRaw) return [];
  return [
    `Of the balance ${backedRaw} raw USDC can pay vendors: no deposit backs the rest, which buys everything else.`,
  ];
}

const WARNINGS_OF_STATUS: Readonly<Record<AgentStatus, readonly string[]>> = {
  active: [],
  pending_delegation: ['The agent is not ready yet: what is deposited can be spent once it is.'],
  suspended: ['The agent is suspended: what is deposited can be spent once it is active again.'],
  closed: ['The agent is closed: do not send anything to its wallet any more.'],
};
