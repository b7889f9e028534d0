import { requestErrors } from '../../http/route/errors.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import type { CheckedDestination } from '../../platform/egress/destination-guard.ts';
import type { GuardedAnswer } from '../../platform/egress/exchange.ts';
import type { GuardedClient } from '../../platform/egress/guarded-client.ts';
import type { SpendStateReader } from '../../spend/limits/spend-state.ts';
import type { Challenge } from '../../x402/challenge.ts';
import type { Terms } from '../../x402/offer.ts';
import type { RememberedPrices } from '../quotes/remembered-prices.ts';
import { type AdmittedCall, admitCall, admittedBefore, askerOf, viewAgent } from './admit-call.ts';
import type { OutboundRequest } from './outbound-request.ts';
import { readChallenge } from './read-challenge.ts';
import { askVendor, openVendor, type VendorTimes } from './vendor-call.ts';

/** A request to a vendor, and its payer. */
export type VendorCall = {
  readonly spender: Spender;
  readonly url: string;
  readonly request: OutboundRequest;
  /** Id that the hold gets. Undefined: the hold gets a new id. */
  readonly workId: string | undefined;
  /** Fires when the client leaves. */
  readonly signal: AbortSignal;
  /** Set when the vendor is a model's source, which the operator chose: the agent's allowlists are then not checked. */
  readonly source?: {
    /** The vendor's name in spend controls. */
    readonly host: string;
    /** Largest amount in raw USDC that may be paid for the call. */
    readonly mostRaw: bigint;
  };
};

export type QuoteCallDeps = {
  readonly client: Pick<GuardedClient, 'open' | 'send'>;
  readonly spendState: Pick<SpendStateReader, 'read' | 'recall'>;
  readonly ledger: Pick<Ledger, 'enforce'>;
  readonly clock: Clock;
  readonly terms: Terms;
  readonly times: VendorTimes;
  readonly prices: RememberedPrices;
};

type Asked = { readonly destination: CheckedDestination; readonly upstreamMs: number };

/** Result when the vendor requests no payment. */
type Free = Asked & { readonly kind: 'free'; readonly answer: GuardedAnswer };

/** The vendor requests a payment, and this agent may make the payment. */
export type PricedCall = Asked & {
  readonly kind: 'priced';
  readonly agent: AdmittedCall;
  readonly challenge: Challenge;
};

export type QuotedCall = Free | PricedCall;

const PAYMENT_REQUIRED = 402;

/** Sends a request without a payment, and reads the challenge of a vendor that requests one. Throws the refusal. */
export async function quoteCall(deps: QuoteCallDeps, call: VendorCall): Promise<QuotedCall> {
  const { client, clock, prices } = deps;
  const { request, source, spender, signal } = call;
  // The spend state is read while the name is resolved. Nothing is sent before the destination and then the agent are checked.
  const view = viewAgent(deps.spendState, spender.agentId);
  const destination = await openVendor(client, call.url, askerOf(view, spender));
  const target = { method: request.method, url: destination.url };
  const admitting =
    source === undefined
      ? admitCall(deps.ledger, view, spender, {
          host: destination.host,
          lastRaw: prices.last(target),
        })
      : admittedBefore(view);
  const agent = await admitting;
  const askedMs = clock.monotonicMs();
  const answer = await askVendor(client, destination, request, deps.times, signal);
  const upstreamMs = clock.monotonicMs() - askedMs;
  if (answer.status !== PAYMENT_REQUIRED) return { kind: 'free', destination, upstreamMs, answer };
  const challenge = await readChallenge(answer, deps.terms);
  prices.note(target, challenge.offers);
  // A client that has left pays nothing.
  if (signal.aborted) throw requestErrors.clientClosed();
  return { kind: 'priced', destination, upstreamMs, agent, challenge };
}
