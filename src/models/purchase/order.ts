import type { Room } from '../../ledger/rules/hold-what-fits.ts';
import type { Modality, Model, Source } from '../catalogue/catalogue.ts';
import type { Outcome } from '../providers/outcome.ts';
import type { PaymentMethod } from '../providers/payment-method.ts';
import type { ModelSources } from '../routing/keyed-sources.ts';
import type { Offer, Offers } from '../routing/plan-offers.ts';
import type { RoutingPreferences } from '../routing/routing-preferences.ts';
import type { Metered } from './clamp-usage.ts';
import type { AnswerCap } from './receipt.ts';

/** Request for one model, before its sources are chosen. */
export type PurchaseRequest<R, T> = {
  readonly modelId: string;
  readonly modality: Modality;
  /** Buyer's preferences among sources. Undefined: any source, the cheapest first. */
  readonly wishes?: RoutingPreferences | undefined;
  /** Same request for the next model, for when this one cannot be had. */
  readonly instead?: PurchaseRequest<R, T> | undefined;
  /** Returns the order of the request from the given sources. Throws the refusal when none of the sources can serve it. */
  readonly orderOf: (sellers: ModelSources) => Order<R, T> | Promise<Order<R, T>>;
};

/** Request for one model, with its priced offers. */
export type Order<R, T> = {
  readonly model: Model;
  readonly offers: Offers<R>;
  /** Asks one offer, with `heldRaw` as the limit of its cost. Never rejects for a failure of the upstream. */
  readonly ask: (
    offer: Offer<R>,
    heldRaw: bigint,
    paymentMethod: PaymentMethod | undefined,
  ) => Promise<Outcome<T>>;
  /** Meters an answer of a source up to now. */
  readonly meter: (answer: T, source: Source) => Metered;
  /** Records facts that later requests may use, such as a cached prompt. Called once, when the answer is settled. */
  readonly note?: (answer: T, source: Source) => void;
  /** Returns the order for the amount that the balance or a cap leaves. Undefined when nothing smaller can be bought. */
  readonly forLess?: (room: Room) => Order<R, T> | undefined;
  /** Returns the smallest useful order. Undefined when the order cannot be made smaller. */
  readonly atLeast?: () => Order<R, T>;
  /** Cap of the answer's tokens, when it is lower than the caller's own cap or the caller set none. */
  readonly answerCap?: AnswerCap | undefined;
  /** Order for the next sources, which needs another hold. */
  readonly rest?: Order<R, T> | undefined;
};
