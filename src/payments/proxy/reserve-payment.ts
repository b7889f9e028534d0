import { agentErrors } from '../../accounts/errors.ts';
import type { NewReservation } from '../../ledger/rules/payment.ts';
import type { Breaker } from '../../platform/chain/breaker.ts';
import type { Challenge } from '../../x402/challenge.ts';
import { chooseOffer, isPayableBy, type PaymentOffer } from '../../x402/offer.ts';
import type { PaymentHeader } from '../../x402/payment-header.ts';
import { proxyErrors } from '../errors.ts';
import { refusalBeforeHold } from './admit-call.ts';
import { type HeldPayment, type HoldPaymentDeps, holdPayment } from './hold-payment.ts';
import type { OnPaymentStep } from './payment-steps.ts';
import type { PricedCall, VendorCall } from './quote-call.ts';
import { type Payer, type SignDeps, signPayment } from './sign-payment.ts';
import { VendorCallFailed } from './vendor-failed.ts';

export type ReserveDeps = HoldPaymentDeps &
  SignDeps & {
    readonly breaker: Pick<Breaker, 'check'>;
    /** Wallets that sign payments. Undefined when no wallet provider is configured. */
    readonly wallets: Payer['wallets'] | undefined;
    readonly onStep: OnPaymentStep;
  };

/** Thrown when every offer of a vendor is above the amount that may be paid there. */
export class AsksTooMuch extends Error {
  override readonly name = 'AsksTooMuch';
}

/** A payment that is written with its hold and signed. Nothing was sent to the vendor yet. */
export type Reserved = HeldPayment & { readonly header: PaymentHeader };

/**
 * Chooses an offer, signs it and holds its amount. Throws only before anything could be paid: the one authorization of this
 * call exists only when this resolves.
 */
export async function reservePayment(
  deps: ReserveDeps,
  call: VendorCall,
  { agent, challenge, destination }: Pick<PricedCall, 'agent' | 'challenge' | 'destination'>,
): Promise<Reserved> {
  const { source, spender } = call;
  const { accountId, wallet } = agent;
  const { wallets } = deps;
  requireCalm(deps.breaker);
  if (wallets === undefined) throw agentErrors.featuresUnavailable();
  if (wallet === null) throw proxyErrors.walletMissing();
  const offer = requireOffer(challenge, wallet, source?.mostRaw);
  const isOperators = source !== undefined;
  const host = source?.host ?? destination.host;
  const to = { host, payee: offer.payTo, isOperators };
  const refusal = await refusalBeforeHold(agent, spender, to, offer.amountRaw);
  if (refusal !== undefined) throw deps.refusalOfHold(refusal);
  const payer = { wallets, wallet, accountId, agentId: spender.agentId };
  const signed = await signPayment(deps, payer, challenge, offer);
  const reservation: NewReservation = {
    nonce: signed.authorization.nonce,
    wallet,
    payee: offer.payTo,
    signature: signed.signature,
    validBefore: signed.authorization.validBefore,
    x402Version: challenge.version,
    network: offer.network,
    targetUrl: destination.url,
    targetHost: host,
    method: call.request.method,
  };
  const { held, row } = await holdPayment(deps, call, reservation, offer.amountRaw, to);
  await deps.onStep('reserved');
  return { row, held, header: signed.header };
}

function requireCalm(breaker: Pick<Breaker, 'check'>): void {
  const state = breaker.check();
  if (state.kind === 'active') throw proxyErrors.breakerActive(state.reasonText);
  if (state.kind === 'stale') throw proxyErrors.breakerStale(state.reasonText);
}

function requireOffer(
  { offers }: Challenge,
  wallet: string,
  mostRaw: bigint | undefined,
): PaymentOffer {
  const offer = chooseOffer(offers.filter((each) => isPayableBy(each, wallet)));
  if (offer === undefined) {
    const detail = 'every usable offer pays the wallet that would pay';
    const refusal = proxyErrors.unreadableChallenge('no_compatible_requirement', detail);
    throw new VendorCallFailed('unreadable', refusal);
  }
  if (mostRaw !== undefined && offer.amountRaw > mostRaw) {
    throw new AsksTooMuch(`asks ${offer.amountRaw} of ${mostRaw} at most`);
  }
  return offer;
}
