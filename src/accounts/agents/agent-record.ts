import { type Agent, isDelegationActive, provisioningOf } from './agent.ts';

/** Returns an agent as every management route shows it. */
export const agentRecord = (agent: Agent, nowSec: number) => ({
  id: agent.id,
  agentId: agent.id,
  name: agent.name,
  mode: agent.mode,
  fundingMode: agent.fundingMode,
  status: agent.status,
  suspendedReason: agent.suspendedReason,
  agentWalletAddress: agent.walletAddress,
  managedWalletAddress: agent.walletAddress,
  creditLimit: agent.borrowLimitRaw?.toString() ?? null,
  creditIn: '0',
  maxRateBps: agent.maxRateBps,
  delegationActive: isDelegationActive(agent, nowSec),
  // A string here and a number in the balance object: both forms are published, and clients rely on both.
  operatorExpiry: agent.operatorExpiry?.toString() ?? null,
  sessionSpendLimitRaw: agent.session?.limitRaw.toString() ?? null,
  selfServiceLocked: agent.selfServiceLocked,
  delegationTxHash: agent.delegationTxHash,
  provisioning: provisioningRecord(agent),
  createdAt: agent.createdAt.toISOString(),
  updatedAt: agent.updatedAt.toISOString(),
  closedAt: agent.closedAt?.toISOString() ?? null,
});

function provisioningRecord(agent: Agent) {
  const found = provisioningOf(agent);
  if (found === undefined) return null;
  const { step, attempts, nextAttemptAt } = found;
  return { step, attempts, nextAttemptAt: nextAttemptAt?.toISOString() ?? null };
}

/** Amounts of an agent: spendable now, kept for tasks, and paid to vendors while the chain is undecided. */
export type Money = {
  readonly availableRaw: bigint;
  readonly reservedRaw: bigint;
  readonly pendingRaw: bigint;
};

/**
 * Returns the balance object. Every amount is a digit string; only the wallet's amount may be null, when it could not be read.
 */
export function balanceRecord(
  agent: Agent,
  money: Money,
  walletUsdcRaw: bigint | null,
  nowSec: number,
) {
  const spendable = money.availableRaw.toString();
  const pending = money.pendingRaw.toString();
  const limit = (agent.borrowLimitRaw ?? 0n).toString();
  return {
    balance: spendable,
    spendableRaw: spendable,
    creditAvailableRaw: limit,
    creditAvailable: limit,
    creditLimit: limit,
    creditUsed: '0',
    walletUsdcRaw: walletUsdcRaw?.toString() ?? null,
    pendingSettlementsRaw: pending,
    pendingSettlements: pending,
    heldUnspentRaw: money.reservedRaw.toString(),
    managedWalletAddress: agent.walletAddress,
    activeLoans: [],
    delegationActive: isDelegationActive(agent, nowSec),
    operatorExpiry: agent.operatorExpiry ?? 0,
    ...(agent.status === 'closed' && { status: 'closed', remainingLoans: [] }),
  };
}
