import { type ManagedWallets, walletReference } from '../../accounts/wallets/managed-wallets.ts';
import { type Clock, nowSeconds } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { type Random, randomHex } from '../../kernel/random.ts';
import type { Authorization, TokenDomain } from '../../x402/authorization.ts';
import type { Challenge } from '../../x402/challenge.ts';
import type { PaymentOffer } from '../../x402/offer.ts';
import { encodePayment, type PaymentHeader } from '../../x402/payment-header.ts';
import { proxyErrors } from '../errors.ts';

export type SignDeps = {
  readonly domain: TokenDomain;
  readonly validBeforeSeconds: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
};

/** Wallet of an agent, and the service that signs for it. */
export type Payer = {
  readonly wallets: Pick<ManagedWallets, 'signTransfer'>;
  readonly wallet: string;
  readonly accountId: string;
  readonly agentId: number;
};

export type SignedPayment = {
  readonly authorization: Authorization;
  readonly signature: string;
  readonly header: PaymentHeader;
};

/** Signs the only authorization of a call, for one offer of the vendor. Throws the refusal when the wallet cannot sign. */
export async function signPayment(
  deps: SignDeps,
  { accountId, agentId, wallet, wallets }: Payer,
  challenge: Challenge,
  offer: PaymentOffer,
): Promise<SignedPayment> {
  const authorization: Authorization = {
    from: wallet,
    to: offer.payTo,
    valueRaw: offer.amountRaw,
    validAfter: 0,
    validBefore: nowSeconds(deps.clock) + deps.validBeforeSeconds,
    nonce: `0x${randomHex(deps.random, 32)}`,
  };
  try {
    const reference = walletReference({ accountId, id: agentId });
    const signature = await wallets.signTransfer(reference, deps.domain, authorization);
    const header = await encodePayment(challenge, offer, authorization, signature);
    return { authorization, signature, header };
  } catch (err) {
    deps.log.error({ err, agentId }, 'a payment could not be signed');
    throw proxyErrors.signingFailed();
  }
}
