import { ApiError } from '../../kernel/api-error.ts';
import { impliedSource } from '../catalogue/byok-source.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { requireModel } from '../catalogue/require-model.ts';
import { findOwnSources, pooledSources, type StoredKeys } from '../routing/keyed-sources.ts';
import { preferredSources, requirePreferred } from '../routing/routing-preferences.ts';
import { type EarlierAttempts, isPassedOver, type Undelivered } from './attempt.ts';
import type { Buyer } from './buyer.ts';
import type { Product, PurchaseRequest, Quote } from './product.ts';
import type { Routing, Served } from './receipt.ts';

export type ChooseDeps = {
  readonly catalogue: Catalogue;
  readonly providerKeys: Pick<StoredKeys, 'find'>;
};

/** Attempt at a quote whose sources did not deliver. */
type FailedQuote<B, R> = {
  readonly quote: Quote<B, R>;
  readonly attempted: Undelivered;
  readonly served: Served;
};

/** Progress of one purchase through its models, and through the sources of each. */
export type Purchase<Q, B, R, T> = {
  readonly product: Product<Q, B, R, T>;
  readonly request: PurchaseRequest<Q>;
  /** Ids of the models: the requested one, then the buyer's fallbacks. */
  readonly models: readonly string[];
  /** Buyer of the first model. */
  readonly firstBuyer: Buyer;
  /** Index of the model whose sources are chosen now. */
  at: number;
  /** Buyer of the model. It has no provider key when another provider than that of the first model would see the key. */
  buyer: Buyer;
  /** Last quote of the model. Undefined: none was attempted. */
  last: FailedQuote<B, R> | undefined;
  /** Attempts of all models up to now. */
  before: EarlierAttempts | undefined;
  readonly fallbacks: Routing['fallbacks'][number][];
};

export const beginPurchase = <Q, B, R, T>(
  product: Product<Q, B, R, T>,
  buyer: Buyer,
  request: PurchaseRequest<Q>,
): Purchase<Q, B, R, T> => ({
  product,
  request,
  models:
    request.preferences === undefined
      ? [request.model]
      : [...new Set([request.model, ...request.preferences.models])],
  firstBuyer: buyer,
  at: 0,
  buyer,
  last: undefined,
  before: undefined,
  fallbacks: [],
});

/**
 * Chooses the next offers of a purchase: the sources for the buyer's own keys first, then the pool, then the same for the next
 * model. Undefined when none is left. Throws the refusal when the last model has none. Work under an Idempotency-Key has one
 * hold, and does not change to another model once that hold was open.
 */
export async function choose<Q, B, R, T>(
  deps: ChooseDeps,
  purchase: Purchase<Q, B, R, T>,
): Promise<Quote<B, R> | undefined> {
  for (;;) {
    let refusal: ApiError | undefined;
    try {
      const quote = await quoteNext(deps, purchase);
      if (quote !== undefined) return quote;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusal = error;
    }
    const { at, fallbacks, firstBuyer, last, models } = purchase;
    const next = models[at + 1];
    if (next === undefined || !mayFallBack(purchase)) {
      if (refusal === undefined) return undefined;
      throw refusal;
    }
    fallbacks.push([models[at] as string, refusal?.error ?? whyOf(last?.attempted)]);
    purchase.at++;
    purchase.last = undefined;
    purchase.buyer = buyerOf(deps, firstBuyer, [models[0] as string, next]);
  }
}

/** Quotes the request at the next sources of the model. Undefined when no source is left. */
async function quoteNext<Q, B, R, T>(
  { catalogue, providerKeys }: ChooseDeps,
  { at, buyer, last, models, product, request }: Purchase<Q, B, R, T>,
): Promise<Quote<B, R> | undefined> {
  const { modality, rails } = product;
  const { preferences } = request;
  const modelId = models[at] as string;
  if (last === undefined) {
    const found = await findOwnSources({ catalogue, providerKeys }, modelId, buyer);
    const own = found && preferredSources(found, preferences);
    const canServe = own?.sources.some(({ source }) => rails.railOf(source) !== undefined);
    if (own?.model.modality === modality && canServe === true) {
      return product.quote(request, own, buyer);
    }
  } else {
    if (!isPassedOver(last.attempted.outcome, last.attempted.source)) return undefined;
    if (last.quote.rest !== undefined) return last.quote.rest;
    // The fee of the own key has used the one hold of work under an Idempotency-Key: no second hold for the pool.
    const mayUsePool = last.attempted.source.rail === 'byok' && buyer.workId === undefined;
    if (!mayUsePool || catalogue.find(modelId) === undefined) return undefined;
  }
  const model = requireModel(catalogue, modelId, modality);
  await buyer.admitPooled();
  return product.quote(request, requirePreferred(pooledSources(model), preferences), buyer);
}

/**
 * Returns true when the next model may be chosen: nothing was held for this one, or it failed and the buyer set no id for the
 * purchase's one hold. A refusal of the upstream is relayed, and missing money is missing for every model.
 */
function mayFallBack<Q, B, R, T>({ buyer, last }: Purchase<Q, B, R, T>): boolean {
  if (last === undefined) return true;
  const { kind } = last.attempted.outcome;
  const mayDeliverElsewhere = kind === 'failed' || kind === 'resting' || kind === 'unfit';
  return buyer.workId === undefined && mayDeliverElsewhere;
}

const whyOf = (attempted: Undelivered | undefined): string =>
  attempted?.outcome.kind === 'failed'
    ? attempted.outcome.failure
    : (attempted?.outcome.kind ?? 'unsold');

/**
 * Returns the buyer without the key of the request, if another provider would see the key. The key belongs to the provider of
 * the first model.
 */
function buyerOf(
  { catalogue }: Pick<ChooseDeps, 'catalogue'>,
  buyer: Buyer,
  [first, modelId]: readonly [string, string],
): Buyer {
  if (buyer.providerKey === undefined) return buyer;
  const hostOf = (id: string) => {
    const model = catalogue.findKeyed(id);
    return model && impliedSource(model)?.provider;
  };
  const host = hostOf(first);
  const isSame = host !== undefined && hostOf(modelId) === host;
  return isSame ? buyer : { ...buyer, providerKey: undefined };
}
