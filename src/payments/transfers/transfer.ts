import type { TransferState } from '../../../machines/transfer.ts';
import { wordOf, wordOfHex } from '../../platform/chain/abi.ts';

export type Direction = 'from_agent' | 'agent_to_agent' | 'to_agent' | 'embedded_to_external';

/** Transfer between a developer's wallet and the wallets of its agents. Addresses are in lower case. */
export type NewTransfer = {
  readonly id: string;
  readonly accountId: string;
  readonly direction: Direction;
  readonly agentId: number;
  readonly counterpartyAgentId: number | null;
  readonly fromAddress: string;
  readonly toAddress: string;
  readonly amountRaw: bigint;
  /** Nonce of the payout, fixed when the transfer is prepared. Null where the developer signs. */
  readonly nonce: string | null;
  readonly onrampId: string | null;
};

export type Transfer = NewTransfer & {
  readonly state: TransferState;
  readonly txHash: string | null;
  readonly failureReason: string | null;
  readonly createdAt: Date;
};

/** Signers of transfers: this server for an agent's wallet, the developer for its own wallet. */
export const SIGNERS = {
  from_agent: 'managed_server',
  agent_to_agent: 'managed_server',
  to_agent: 'external_eoa',
  embedded_to_external: 'embedded_wallet',
} as const satisfies Record<Direction, string>;

/** Returns true for a transfer out of an agent's wallet, which this server signs. */
export const isSignedHere = (direction: Direction): boolean =>
  SIGNERS[direction] === 'managed_server';

/** Selector of ERC-20's `transfer(address,uint256)`. */
const TRANSFER = '0xa9059cbb';

/** Returns the call data of the token with which the developer's wallet makes a transfer. */
export const transferData = ({
  toAddress,
  amountRaw,
}: Pick<Transfer, 'toAddress' | 'amountRaw'>): string =>
  `${TRANSFER}${wordOfHex(toAddress)}${wordOf(amountRaw)}`;

export const transferRecord = (transfer: Transfer) => ({
  id: transfer.id,
  agentId: transfer.agentId,
  counterpartyAgentId: transfer.counterpartyAgentId,
  direction: transfer.direction,
  fromAddress: transfer.fromAddress,
  toAddress: transfer.toAddress,
  amountRaw: transfer.amountRaw.toString(),
  status: transfer.state,
  txHash: transfer.txHash,
  failureReason: transfer.failureReason,
  createdAt: transfer.createdAt.toISOString(),
});

export const transferStatus = ({ id, state, txHash }: Transfer) => ({
  transferId: id,
  status: state,
  txHash,
});
