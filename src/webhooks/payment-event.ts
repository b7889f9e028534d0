import type { EventRow } from '../ledger/rules/companion.ts';

/** `x402.first_settlement`: the first payment of an agent that the chain has settled. */
export const paymentFirstSettled = (payment: {
  readonly accountId: string;
  readonly agentId: number;
  readonly wallet: string;
  readonly url: string;
  readonly amountRaw: bigint;
  readonly txHash: string;
  readonly nonce: string;
}): EventRow => ({
  name: 'x402.first_settlement',
  accountId: payment.accountId,
  agentWallet: payment.wallet,
  correlationId: payment.nonce,
  payload: {
    agentId: payment.agentId,
    agentWalletAddress: payment.wallet,
    url: payment.url,
    amountRaw: payment.amountRaw.toString(),
    txHash: payment.txHash,
  },
});
