import type { EventRow } from '../ledger/rules/companion.ts';

type SettledPayment = {
  readonly accountId: string;
  readonly agentId: number;
  readonly wallet: string;
  readonly url: string;
  readonly host: string;
  readonly amountRaw: bigint;
  readonly txHash: string;
  readonly nonce: string;
};

/** Builds `x402.first_settlement`, for the first payment of an agent that the chain has settled. */
export const paymentFirstSettled = (payment: SettledPayment): EventRow => ({
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

/** Builds `marketplace.payment.settled`, for a payment to a vendor that the chain has settled. */
export const paymentSettled = (payment: SettledPayment): EventRow => ({
  name: 'marketplace.payment.settled',
  accountId: payment.accountId,
  agentWallet: payment.wallet,
  correlationId: payment.nonce,
  payload: {
    agentId: payment.agentId,
    agentWalletAddress: payment.wallet,
    host: payment.host,
    url: payment.url,
    amountRaw: payment.amountRaw.toString(),
    rail: 'x402',
    txHash: payment.txHash,
  },
});

/** `marketplace.payment.settled`: a sale of this server's own marketplace, paid from the balance. */
export const marketplaceSold = (sale: {
  readonly accountId: string;
  readonly agentId: number;
  readonly wallet: string | null;
  readonly url: string;
  readonly host: string;
  readonly amountRaw: bigint;
  /** Id of the hold that paid for the sale. */
  readonly reference: string;
}): EventRow => ({
  name: 'marketplace.payment.settled',
  accountId: sale.accountId,
  agentWallet: sale.wallet,
  correlationId: sale.reference,
  payload: {
    agentId: sale.agentId,
    agentWalletAddress: sale.wallet,
    host: sale.host,
    url: sale.url,
    amountRaw: sale.amountRaw.toString(),
    rail: 'credit',
    txHash: null,
  },
});

/**
 * Builds `marketplace.tripwire.triggered`, for a difference between a vendor's delivery and the order. The event changes no
 * charge.
 */
export const tripwireTriggered = (found: {
  readonly accountId: string;
  readonly wallet: string | null;
  readonly vendor: string;
  readonly tripwire: string;
  readonly expected: string;
  readonly observed: string;
  /** Id of the sale's hold. */
  readonly reference: string;
}): EventRow => {
  const { accountId, reference, wallet, ...departure } = found;
  return {
    name: 'marketplace.tripwire.triggered',
    accountId,
    agentWallet: wallet,
    correlationId: reference,
    payload: { agentWalletAddress: wallet, ...departure },
  };
};

/** Builds `marketplace.job.completed`, for a vendor's job that has completed or failed. */
export const jobCompleted = (job: {
  readonly accountId: string;
  readonly wallet: string | null;
  readonly jobId: string;
  readonly vendor: string;
  readonly status: 'completed' | 'failed';
}): EventRow => {
  const { accountId, wallet, ...ended } = job;
  return {
    name: 'marketplace.job.completed',
    accountId,
    agentWallet: wallet,
    correlationId: job.jobId,
    payload: { agentWalletAddress: wallet, ...ended },
  };
};

/** Builds `marketplace.spend_cap.hit`, for a paid call that a cap refused. The amounts are the refusal's. */
export const spendCapHit = (hit: {
  readonly accountId: string;
  readonly agentId: number;
  readonly wallet: string | null;
  readonly url: string;
  readonly host: string;
  readonly error: string;
  readonly policyId: number | null;
  readonly required: string | null;
  readonly spent: string | null;
  readonly limit: string | null;
}): EventRow => {
  const { accountId, agentId, wallet, ...cap } = hit;
  return {
    name: 'marketplace.spend_cap.hit',
    accountId,
    agentWallet: wallet,
    correlationId: null,
    payload: { agentId, agentWalletAddress: wallet, ...cap },
  };
};
