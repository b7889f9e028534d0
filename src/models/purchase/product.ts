import type { Room } from '../../ledger/rules/hold-what-fits.ts';
import type { HoldVerdict } from '../../ledger/rules/ledger.ts';
import type { Modality, Model, Source } from '../catalogue/catalogue.ts';
import type { Outcome } from '../providers/outcome.ts';
import type { PaymentMethod } from '../providers/payment-method.ts';
import type { ModelSources } from '../routing/keyed-sources.ts';
import type { Rails } from '../routing/open-rails.ts';
import type { Offer, Offers } from '../routing/plan-offers.ts';
import type { RoutingPreferences } from '../routing/routing-preferences.ts';
import type { Buyer } from './buyer.ts';
import type { Metered } from './clamp-usage.ts';

/** Request of a buyer for a model. */
export type PurchaseRequest<Q> = {
  readonly model: string;
  readonly body: Q;
  /** Buyer's preferences among models and sources. Undefined: any source of the model, the cheapest first. */
  readonly preferences?: RoutingPreferences | undefined;
};

/** Offers of one model for a request, and the bound `B` of the request that their prices are computed from. */
export type Quote<B, R> = {
  readonly model: Model;
  readonly bound: B;
  readonly offers: Offers<R>;
  readonly answerCap?: AnswerCap | undefined;
  /** Quote of the next sources, which needs another hold. */
  readonly rest?: Quote<B, R> | undefined;
};

/** Request with the open hold that its attempts spend from. */
export type HeldRequest<Q, B, R> = {
  readonly buyer: Buyer;
  readonly body: Q;
  /** Quote in the size that the money allows. */
  readonly quote: Quote<B, R>;
  readonly held: Extract<HoldVerdict, { kind: 'held' }>;
  readonly arrivedMs: number;
};

/**
 * The steps of a purchase that depend on the kind of request: chat, embeddings, speech or transcription. `Q` is the request's
 * body, `B` its bound, `R` a rail and `T` an answer. A product has no state of a request.
 */
export type Product<Q, B, R, T> = {
  readonly modality: Modality;
  readonly rails: Pick<Rails<R>, 'railOf'>;
  /** Bounds a request and prices it at the given sources. Throws the refusal when none of them can serve it. */
  quote(
    request: PurchaseRequest<Q>,
    choice: ModelSources,
    buyer: Buyer,
  ): Quote<B, R> | Promise<Quote<B, R>>;
  /** Returns the quote for the amount that the balance or a cap leaves. Undefined when nothing smaller can be bought. */
  lessen?(body: Q, quote: Quote<B, R>, room: Room): Quote<B, R> | undefined;
  /** Returns the smallest useful quote. */
  least?(body: Q, quote: Quote<B, R>): Quote<B, R>;
  /** Sends the request to one offer. Never rejects for a failure of the upstream. */
  attempt(
    held: HeldRequest<Q, B, R>,
    offer: Offer<R>,
    paymentMethod: PaymentMethod | undefined,
  ): Promise<Outcome<T>>;
  /** Returns the usage of an answer up to now. */
  meter(held: HeldRequest<Q, B, R>, answer: T, source: Source): Metered;
  /** Records facts that later requests may use, such as a cached prompt. Called once, when the answer is settled. */
  note?(held: HeldRequest<Q, B, R>, answer: T, source: Source): void;
};

/** Reason of an answer's cap. `default`: the catalogue knows no limit of the model. */
export type CapReason = 'model' | 'balance' | 'cap' | 'default';

/** Upper bound of an answer's tokens, when it is lower than the caller's own cap or the caller set none. */
export type AnswerCap = { readonly tokens: number; readonly reason: CapReason };
