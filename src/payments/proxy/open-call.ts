import { errors } from '../../kernel/errors.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import type { Destination } from '../../platform/egress/destination-guard.ts';
import type { GuardedAnswer } from '../../platform/egress/exchange.ts';
import type { GuardedClient } from '../../platform/egress/guarded-client.ts';
import type { SpendStateReader } from '../../spend/limits/spend-state.ts';
import type { Terms } from '../../x402/offer.ts';
import type { AskedPrices } from '../quotes/asked-prices.ts';
import {
  type ReserveDeps,
  type Reserved,
  reservePayment,
} from '../reservations/reserve-payment.ts';
import { admitCall, admittedBefore, viewAgent } from './admit-call.ts';
import type { OutboundRequest } from './outbound-request.ts';
import type { OnPaymentStep } from './pay-vendor.ts';
import { readChallenge } from './read-challenge.ts';
import { askVendor, openVendor, type VendorTimes } from './vendor-call.ts';

/** A request to a vendor, and whose money may pay for it. */
export type VendorCall = {
  readonly spender: Spender;
  readonly url: string;
  readonly request: OutboundRequest;
  /** Becomes the id of the hold. */
  readonly workId: string | undefined;
  /** Fires when the client leaves. */
  readonly signal: AbortSignal;
  /** Set where the operator chose the vendor, as a source of a model. */
  readonly source?: {
    /** What controls know it by. */
    readonly host: string;
    readonly mostRaw: bigint;
  };
};

export type OpenDeps = ReserveDeps & {
  readonly client: Pick<GuardedClient, 'open' | 'send'>;
  readonly spendState: Pick<SpendStateReader, 'read' | 'recall'>;
  readonly terms: Terms;
  readonly times: VendorTimes;
  readonly prices: AskedPrices;
  readonly onStep: OnPaymentStep;
};

/** What the vendor said to a request without a payment. */
export type OpenedCall = { readonly destination: Destination; readonly upstreamMs: number } & (
  | { readonly kind: 'free'; readonly answer: GuardedAnswer }
  /** It asked for a payment, which is signed and held. Nothing of it has been sent. */
  | { readonly kind: 'reserved'; readonly reserved: Reserved }
);

const PAYMENT_REQUIRED = 402;

/**
 * Sends a request as it is, and reserves the payment that its vendor asks for. What it throws, it throws before
 * anything could be paid.
 */
export async function openCall(deps: OpenDeps, call: VendorCall): Promise<OpenedCall> {
  const { client, clock } = deps;
  const { request, source, spender, signal } = call;
  // Read while the name is resolved, where it is. Nothing is sent before both are judged, in their order.
  const view = viewAgent(deps.spendState, spender.agentId);
  const destination = await openVendor(client, call.url);
  const { url, host } = destination;
  const target = { method: request.method, url };
  const lastRaw = deps.prices.last(target);
  const admitting =
    source === undefined ? admitCall(view, spender, { host, lastRaw }) : admittedBefore(view);
  const agent = await admitting;
  const askedMs = clock.monotonicMs();
  const answer = await askVendor(client, destination, request, deps.times, signal);
  const upstreamMs = clock.monotonicMs() - askedMs;
  if (answer.status !== PAYMENT_REQUIRED) return { kind: 'free', destination, upstreamMs, answer };
  const challenge = await readChallenge(answer, deps.terms);
  deps.prices.note(target, challenge.offers);
  // Nothing is paid for a client that has left.
  if (signal.aborted) throw errors.request.clientClosed();
  const paid = { spender, agent, url, workId: call.workId, method: request.method };
  const reserved = await reservePayment(
    deps,
    { ...paid, host, ...source, isOperators: source !== undefined },
    challenge,
  );
  await deps.onStep('reserved');
  return { kind: 'reserved', destination, upstreamMs, reserved };
}
