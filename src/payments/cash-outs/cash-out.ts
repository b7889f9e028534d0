import type { CashOutState } from '../../../machines/cash-out.ts';

export type SourceKind = 'agent_wallet' | 'embedded_wallet';

/** An order that turns USDC into money at a bank. Addresses are in lower case. */
export type CashOut = {
  readonly id: number;
  readonly ref: string;
  readonly accountId: string;
  readonly sourceKind: SourceKind;
  readonly agentId: number | null;
  readonly state: CashOutState;
  readonly ownerAddress: string;
  readonly agentWallet: string | null;
  readonly requestedRaw: bigint;
  readonly finalRaw: bigint | null;
  readonly fiatEstimate: string | null;
  readonly depositAddress: string | null;
  readonly saleId: string | null;
  readonly transferId: string | null;
  /** Transaction of the first leg, once it was handed to the chain. */
  readonly legTxHash: string | null;
  readonly sendTxHash: string | null;
  readonly failureReason: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export type NewCashOut = Pick<
  CashOut,
  | 'ref'
  | 'accountId'
  | 'sourceKind'
  | 'agentId'
  | 'state'
  | 'ownerAddress'
  | 'agentWallet'
  | 'requestedRaw'
  | 'transferId'
>;

export const cashOutRecord = (order: CashOut) => ({
  ref: order.ref,
  sourceKind: order.sourceKind,
  agentId: order.agentId,
  status: order.state,
  devEoaAddress: order.ownerAddress,
  agentWalletAddress: order.agentWallet,
  requestedAmountRaw: order.requestedRaw.toString(),
  finalAmountRaw: order.finalRaw?.toString() ?? null,
  fiatEstimate: order.fiatEstimate,
  cdpDepositAddress: order.depositAddress,
  cdpTransactionId: order.saleId,
  leg1TransferId: order.transferId,
  leg1TxHash: order.legTxHash,
  leg2TxHash: order.sendTxHash,
  failureReason: order.failureReason,
  asset: 'USDC',
  chain: 'base',
  createdAt: order.createdAt.toISOString(),
  updatedAt: order.updatedAt.toISOString(),
});
