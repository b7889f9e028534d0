import { type Random, randomHex } from '../../kernel/random.ts';
import type { NewPayout } from '../../ledger/rules/payment.ts';
import type { Authorization } from '../../x402/authorization.ts';

/** A planned transfer of USDC out of an agent's wallet. Nonce, amount and payee never change. */
export type OpenPayout = {
  readonly nonce: string;
  readonly agentId: number;
  readonly wallet: string;
  readonly payee: string;
  readonly amountRaw: bigint;
};

/** Payout that this process has claimed, to hand it to the chain. */
export type ClaimedPayout = OpenPayout & {
  readonly accountId: string;
  readonly kind: NewPayout['kind'];
  /** Attempts, this attempt included. */
  readonly attempts: number;
  readonly createdMs: number;
  /** Unix seconds at which an authorization that is signed now expires. */
  readonly validBefore: number;
};

/** Payout that was carried out before. */
export type PastPayout = Omit<ClaimedPayout, 'validBefore'>;

/** Returns a payout with the one nonce that it has for ever, so that the chain carries it out once at most. */
export const newPayout = (
  random: Random,
  kind: NewPayout['kind'],
  { wallet, payee }: { readonly wallet: string; readonly payee: string },
): NewPayout => ({
  nonce: `0x${randomHex(random, 32)}`,
  kind,
  wallet: wallet.toLowerCase(),
  payee: payee.toLowerCase(),
});

export const authorizationOf = (payout: ClaimedPayout): Authorization => ({
  from: payout.wallet,
  to: payout.payee,
  valueRaw: payout.amountRaw,
  validAfter: 0,
  validBefore: payout.validBefore,
  nonce: payout.nonce,
});
