import { z } from 'zod';
import { RowId } from '../../row-id.ts';

export const AgentParams = z.object({ agentId: RowId });

/** An agent in the form that every management route returns. */
export const AgentRecord = z.object({
  id: z.number(),
  agentId: z.number(),
  name: z.string(),
  mode: z.string(),
  fundingMode: z.enum(['wallet', 'credit_line']),
  status: z.string(),
  suspendedReason: z.string().nullable(),
  agentWalletAddress: z.string().nullable(),
  managedWalletAddress: z.string().nullable(),
  creditLimit: z.string().nullable(),
  creditIn: z.string(),
  maxRateBps: z.number().nullable(),
  delegationActive: z.boolean(),
  operatorExpiry: z.string().nullable(),
  sessionSpendLimitRaw: z.string().nullable(),
  selfServiceLocked: z.boolean(),
  delegationTxHash: z.string().nullable(),
  /** Provisioning step that failed, number of attempts, and time of the next attempt. Null once the agent is not pending. */
  provisioning: z
    .object({
      step: z.enum(['managed_wallet', 'delegation']),
      attempts: z.number(),
      nextAttemptAt: z.string().nullable(),
    })
    .nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  closedAt: z.string().nullable(),
});

/** Answer to the close of an agent. */
export const ClosedAgent = z.object({
  status: z.literal('closed'),
  loansRepaid: z.number(),
  loansRemaining: z.number(),
  remainingLoans: z.array(z.unknown()),
  repayTxHashes: z.array(z.string()),
  transferTxHash: z.string().nullable(),
  usdcTransferred: z.string().nullable(),
});

/** The balance object. */
export const AgentBalance = z.object({
  balance: z.string(),
  spendableRaw: z.string(),
  creditAvailableRaw: z.string(),
  creditAvailable: z.string(),
  creditLimit: z.string(),
  creditUsed: z.string(),
  walletUsdcRaw: z.string().nullable(),
  pendingSettlementsRaw: z.string(),
  pendingSettlements: z.string(),
  heldUnspentRaw: z.string(),
  managedWalletAddress: z.string().nullable(),
  activeLoans: z.array(z.unknown()),
  delegationActive: z.boolean(),
  operatorExpiry: z.number(),
});
