import { makerOf } from '../../ledger/rules/destination.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import type { Span } from '../../platform/tracing/span.ts';
import type { Model, Source } from '../catalogue/catalogue.ts';
import type { Outcome } from '../providers/outcome.ts';
import type { PaymentMethod } from '../providers/payment-method.ts';
import {
  type AttemptDeps,
  type Attempts,
  type AttemptsResult,
  attemptOffers,
} from '../routing/attempt-offers.ts';
import { beginAttempt } from '../routing/attempt-span.ts';
import type { Offer, Offers } from '../routing/plan-offers.ts';

/** Request to several offers, under one hold. */
type OfferRequest<R, T> = {
  readonly model: Model;
  readonly offers: Offers<R>;
  readonly spender: Spender;
  /** Sends the request to one offer. `method` is its payment; undefined: this server's account at the provider pays. */
  readonly ask: (offer: Offer<R>, method: PaymentMethod | undefined) => Promise<Outcome<T>>;
  /** Records that a call uses one of the buyer's own keys. */
  readonly noteUse: (source: Source) => Promise<void> | undefined;
  /** Returns the id of the payment's own hold, for a source paid per call. The margin has another hold. */
  readonly paymentId: () => string;
  /** Parent span of the attempts. Undefined: the attempts are not traced. */
  readonly span?: Span | undefined;
  /** Id of the hold that pays, for the spans of the attempts. */
  readonly holdId?: string | undefined;
};

/** Earlier attempts at the same purchase. */
export type EarlierAttempts = Omit<Attempts, 'source'>;

const NOTHING_TRIED: EarlierAttempts = { attempts: 0, upstreamMs: 0 };

/** Attempts the offers in their order until one delivers. */
export const askOffers = <R, T>(
  deps: AttemptDeps,
  question: OfferRequest<R, T>,
  { attempts, limited, upstreamMs }: EarlierAttempts = NOTHING_TRIED,
): Promise<AttemptsResult<T>> =>
  attemptOffers(deps, {
    offers: question.offers,
    before: { attempts, upstreamMs, limited },
    trace: tracedAs(question),
    ask(offer) {
      if (offer.ownKey !== undefined) return askWithKey(question, offer, offer.ownKey);
      return question.ask(offer, paymentTo(question, offer));
    },
  });

async function askWithKey<R, T>(
  { ask, noteUse }: OfferRequest<R, T>,
  offer: Offer<R>,
  ownKey: string,
): Promise<Outcome<T>> {
  await noteUse(offer.source);
  return ask(offer, { ownKey });
}

function paymentTo<R, T>(
  { model, paymentId, spender }: OfferRequest<R, T>,
  { mostPaidRaw: mostRaw }: Offer<R>,
): PaymentMethod | undefined {
  if (mostRaw === undefined) return undefined;
  return { budget: { spender, maker: makerOf(model.id), mostRaw, holdId: paymentId() } };
}

function tracedAs({
  holdId,
  model,
  span,
  spender,
}: Pick<OfferRequest<unknown, unknown>, 'holdId' | 'model' | 'span' | 'spender'>) {
  if (span === undefined) return undefined;
  const facts = { span, model, holdId, agentId: spender.agentId };
  return (source: Source, attempt: number) => beginAttempt(facts, source, attempt);
}
