import type { Agent } from '../../accounts/agents/agent.ts';
import { requireAgent } from '../../accounts/agents/require-agent.ts';
import { ownerWalletOf } from '../../accounts/developers/owner-wallet.ts';
import { agentErrors } from '../../accounts/errors.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { transferErrors } from '../errors.ts';
import type { Direction } from './transfer.ts';

export type TransferRequest = {
  readonly direction: Direction;
  readonly agentId: number;
  readonly toAgentId?: number | undefined;
  readonly toAddress?: string | undefined;
  readonly amountRaw: bigint;
  readonly onrampId?: string | undefined;
};

/** The two wallets of a transfer, in lower case. */
export type TransferRoute = {
  readonly agentId: number;
  readonly counterpartyAgentId: number | null;
  readonly fromAddress: string;
  readonly toAddress: string;
};

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/**
 * Returns the sending and the receiving wallet of a transfer. Throws 404 for an agent of another account, and 400 when the token
 * or the direction refuses the destination.
 */
export async function planRoute(
  deps: { readonly sql: Queryable; readonly usdc: string },
  accountId: string,
  wanted: TransferRequest,
): Promise<TransferRoute> {
  const { sql } = deps;
  const { agentId, direction, toAgentId, toAddress } = wanted;
  const agent = await requireAgent(sql, { agentId, accountId });
  const owner = await ownerWalletOf(sql, accountId);
  const named = toAddress?.toLowerCase();
  if (named !== undefined) refuseUnpayable(deps, named);
  switch (direction) {
    case 'from_agent':
      requireNamed(named, owner, 'from_agent pays the wallet of the developer');
      return { ...NO_AGENT, agentId, fromAddress: walletOf(agent), toAddress: owner };
    case 'to_agent': {
      const wallet = walletOf(agent);
      requireNamed(named, wallet, 'to_agent pays the wallet of the agent');
      return { ...NO_AGENT, agentId, fromAddress: owner, toAddress: wallet };
    }
    case 'embedded_to_external':
      if (named === undefined) throw transferErrors.fieldMissing('toAddress', direction);
      if (named === owner) throw transferErrors.invalidDestination(TO_ITSELF);
      return { ...NO_AGENT, agentId, fromAddress: owner, toAddress: named };
    case 'agent_to_agent': {
      if (toAgentId === undefined) throw transferErrors.fieldMissing('toAgentId', direction);
      if (toAgentId === agentId) throw transferErrors.invalidDestination(TO_ITSELF);
      const other = await requireAgent(sql, { agentId: toAgentId, accountId });
      const wallet = walletOf(other);
      requireNamed(named, wallet, 'agent_to_agent pays the wallet of the agent `toAgentId`');
      return {
        agentId,
        counterpartyAgentId: toAgentId,
        fromAddress: walletOf(agent),
        toAddress: wallet,
      };
    }
  }
}

const NO_AGENT = { counterpartyAgentId: null } as const;
const TO_ITSELF = 'A transfer goes to another wallet than it comes from. Name another destination.';

function walletOf({ status, walletAddress }: Agent): string {
  if (status === 'closed') throw transferErrors.agentClosed();
  if (walletAddress === null) throw agentErrors.notProvisioned();
  return walletAddress;
}

/** Throws for an address that the token refuses, so that a payout to it would wait for ever. */
function refuseUnpayable({ usdc }: { readonly usdc: string }, address: string): void {
  if (address === ZERO_ADDRESS) {
    throw transferErrors.invalidDestination(
      '`toAddress` is the zero address, where USDC cannot be sent. Name a wallet.',
    );
  }
  if (address === usdc.toLowerCase()) {
    throw transferErrors.invalidDestination(
      '`toAddress` is the contract of USDC, where USDC cannot be sent. Name a wallet.',
    );
  }
}

function requireNamed(named: string | undefined, expected: string, rule: string): void {
  if (named === undefined || named === expected) return;
  throw transferErrors.invalidDestination(
    `${rule}, ${expected}, and \`toAddress\` is ${named}. Leave it out.`,
  );
}
