import { type ManagedWallets, walletReference } from '../../accounts/wallets/managed-wallets.ts';
import { ApiError } from '../../kernel/api-error.ts';
import { type Clock, nowSeconds } from '../../kernel/clock.ts';
import { errors } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import { type Random, randomHex } from '../../kernel/random.ts';
import type { HoldVerdict, Ledger } from '../../ledger/rules/ledger.ts';
import type { NewReservation } from '../../ledger/rules/payment.ts';
import type { Destination, HoldRefusal, Spender } from '../../ledger/rules/requests.ts';
import type { Breaker } from '../../platform/chain/breaker.ts';
import type { Authorization, TokenDomain } from '../../x402/authorization.ts';
import type { Challenge } from '../../x402/challenge.ts';
import { chooseOffer, isPayableBy, type Offer } from '../../x402/offer.ts';
import { encodePayment, type PaymentHeader } from '../../x402/payment-header.ts';
import { type AdmittedCall, refusalBeforeHold } from '../proxy/admit-call.ts';
import { VendorFailed } from '../proxy/vendor-failed.ts';
import type { Reservation } from './reservation.ts';

export type ReserveDeps = {
  readonly breaker: Pick<Breaker, 'check'>;
  readonly ledger: Pick<Ledger, 'hold'>;
  /** Undefined: no wallet provider is configured. */
  readonly wallets: Pick<ManagedWallets, 'signTransfer'> | undefined;
  readonly domain: TokenDomain;
  readonly validBeforeSeconds: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** What is thrown where the money, or a control of it, does not allow a payment. */
  readonly refusalOfHold: (refusal: HoldRefusal) => Error;
};

/** A call that is to be paid for. */
export type PaidCall = {
  readonly spender: Spender;
  readonly agent: AdmittedCall;
  readonly url: string;
  /** What controls know the vendor by. */
  readonly host: string;
  readonly method: string;
  /** Becomes the id of the hold. */
  readonly workId: string | undefined;
  /** The operator chose the vendor, as a source of a model: no allowlist gates it. */
  readonly isOperators: boolean;
  /** No more than this is paid. */
  readonly mostRaw?: bigint | undefined;
};

/** Every offer of a vendor is above what may be paid there. */
export class AsksTooMuch extends Error {
  override readonly name = 'AsksTooMuch';
}

/** A payment that is written down with its hold. Nothing of it has been sent. */
export type Reserved = {
  readonly row: Reservation;
  readonly header: PaymentHeader;
  readonly held: Extract<HoldVerdict, { kind: 'held' }>;
};

/**
 * Chooses an offer, signs it and holds its amount. What it throws, it throws before anything could be paid: the one
 * authorization of this call exists only where this resolves.
 */
export async function reservePayment(
  deps: ReserveDeps,
  call: PaidCall,
  challenge: Challenge,
): Promise<Reserved> {
  requireCalm(deps.breaker);
  const wallet = requireWallet(deps, call);
  const offer = requireOffer(challenge, wallet);
  requireWithin(offer, call.mostRaw);
  const to = { host: call.host, payee: offer.payTo, isOperators: call.isOperators };
  const refusal = await refusalBeforeHold(call.agent, call.spender, to, offer.amountRaw);
  if (refusal !== undefined) throw deps.refusalOfHold(refusal);
  const authorization: Authorization = {
    from: wallet,
    to: offer.payTo,
    valueRaw: offer.amountRaw,
    validAfter: 0,
    validBefore: nowSeconds(deps.clock) + deps.validBeforeSeconds,
    nonce: `0x${randomHex(deps.random, 32)}`,
  };
  const { signature, header } = await sign(deps, call, challenge, offer, authorization);
  const reservation: NewReservation = {
    nonce: authorization.nonce,
    wallet,
    payee: offer.payTo,
    signature,
    validBefore: authorization.validBefore,
    x402Version: challenge.version,
    network: offer.network,
    targetUrl: call.url,
    targetHost: call.host,
    method: call.method,
  };
  const held = await hold(deps, call, reservation, { amountRaw: offer.amountRaw, to });
  return { row: rowOf(deps, call, reservation, held), header, held };
}

function requireCalm(breaker: Pick<Breaker, 'check'>): void {
  const state = breaker.check();
  if (state.kind === 'active') throw errors.proxy.breakerActive(state.reasonText);
  if (state.kind === 'stale') throw errors.proxy.breakerStale(state.reasonText);
}

function requireWallet({ wallets }: ReserveDeps, { agent }: PaidCall): string {
  if (wallets === undefined) throw errors.agents.featuresUnavailable();
  if (agent.wallet === null) throw errors.proxy.walletMissing();
  return agent.wallet;
}

function requireOffer({ offers }: Challenge, wallet: string): Offer {
  const offer = chooseOffer(offers.filter((each) => isPayableBy(each, wallet)));
  if (offer !== undefined) return offer;
  const detail = 'every usable offer pays the wallet that would pay';
  const refusal = errors.proxy.unreadableChallenge('no_compatible_requirement', detail);
  throw new VendorFailed('unreadable', refusal);
}

function requireWithin({ amountRaw }: Offer, mostRaw = amountRaw): void {
  if (amountRaw > mostRaw) throw new AsksTooMuch(`asks ${amountRaw} of ${mostRaw} at most`);
}

async function sign(
  { wallets, domain, log }: ReserveDeps,
  { spender, agent }: PaidCall,
  challenge: Challenge,
  offer: Offer,
  authorization: Authorization,
): Promise<{ readonly signature: string; readonly header: PaymentHeader }> {
  if (wallets === undefined) throw errors.agents.featuresUnavailable();
  const { agentId } = spender;
  try {
    const reference = walletReference({ accountId: agent.accountId, id: agentId });
    const signature = await wallets.signTransfer(reference, domain, authorization);
    const header = await encodePayment(challenge, offer, authorization, signature);
    return { signature, header };
  } catch (err) {
    log.error({ err, agentId }, 'a payment could not be signed');
    throw errors.proxy.signingFailed();
  }
}

async function hold(
  { ledger, random, log, refusalOfHold }: ReserveDeps,
  { spender, workId }: PaidCall,
  reservation: NewReservation,
  { amountRaw, to }: { readonly amountRaw: bigint; readonly to: Destination },
): Promise<Extract<HoldVerdict, { kind: 'held' }>> {
  let verdict: HoldVerdict;
  try {
    verdict = await ledger.hold({
      spender,
      holdId: workId ?? newId(random, 'pay_'),
      amountRaw,
      reservation,
      destination: to,
    });
  } catch (err) {
    // It may still be written: the ledger releases what has no waiting caller any more.
    if (!(err instanceof ApiError)) log.error({ err }, 'a reservation could not be written');
    throw errors.proxy.persistenceFailed();
  }
  if (verdict.kind === 'refused') throw refusalOfHold(verdict.refusal);
  return verdict;
}

const rowOf = (
  { clock }: ReserveDeps,
  { spender }: PaidCall,
  reservation: NewReservation,
  { hold: { holdId, agentId, amountRaw, facts } }: Extract<HoldVerdict, { kind: 'held' }>,
): Reservation => ({
  nonce: reservation.nonce,
  holdId,
  agentId,
  valueRaw: amountRaw,
  keyId: spender.keyId ?? null,
  keyRootId: facts.keyRootId,
  wallet: reservation.wallet,
  payee: reservation.payee,
  validBefore: reservation.validBefore,
  targetUrl: reservation.targetUrl,
  targetHost: reservation.targetHost,
  method: reservation.method,
  taskId: facts.taskId,
  actionId: spender.actionId ?? null,
  customerId: spender.customerId ?? null,
  state: 'reserved',
  refused: false,
  txHash: null,
  responseStatusCode: null,
  latencyMs: null,
  reservedMs: clock.now(),
  sentMs: null,
  decidedMs: null,
  isCorrected: false,
});
