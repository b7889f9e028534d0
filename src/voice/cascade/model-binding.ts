import type { Model, Source } from '../../models/catalogue/catalogue.ts';
import { refuseUnsold } from '../../models/catalogue/require-model.ts';
import type { KeyedSource } from '../../models/routing/keyed-sources.ts';
import type { Rails } from '../../models/routing/open-rails.ts';
import { byPayment, type Offers, planOffers } from '../../models/routing/plan-offers.ts';
import type { OwnKeys } from './own-keys.ts';

/** Sources that are attempted one after another under one hold. */
export type OfferGroup<R> = {
  /** Name of the session's hold that pays the sources. */
  readonly sessionHold: string;
  readonly offers: Offers<R>;
};

export type OfferGroups<R> = readonly [OfferGroup<R>, ...OfferGroup<R>[]];

type PriceRaw = (source: Source) => bigint;

/** A model of a session with its sources: those for the caller's own keys first. */
export type ModelBinding<R> = {
  readonly model: Model;
  /** Returns the offers to try, grouped by hold, cheapest first. Throws the refusal when no source can serve the model. */
  readonly stages: (priceRaw: PriceRaw) => OfferGroups<R>;
  readonly ownKeys: OwnKeys;
};

/** Returns the name of the session's hold that pays a source of a model. */
export type HoldNameOf = (model: Model, source: Source) => string;

/**
 * Binds a model to its sources in a session: sources for the caller's own keys first, then the pool, each way to pay under its
 * own hold.
 */
export function bindModel<R>(options: {
  readonly model: Model;
  readonly rails: Pick<Rails<R>, 'railOf'>;
  readonly canServe?: (rail: R) => boolean;
  readonly ownKeys: OwnKeys;
  readonly holdNameOf: HoldNameOf;
}): ModelBinding<R> {
  const { canServe = () => true, model, ownKeys, holdNameOf, rails } = options;
  const railOf = (source: Source): R | undefined => {
    const rail = rails.railOf(source);
    return rail === undefined || !canServe(rail) ? undefined : rail;
  };
  const isRouter = ({ rail }: Source): boolean => rail === 'x402-router';
  const sold = model.sources.filter(({ rail }) => rail !== 'byok');
  // At equal prices, sources where this server has an account precede `x402-router` sources.
  const pooled = [...sold.filter((source) => !isRouter(source)), ...sold.filter(isRouter)].map(
    (source): KeyedSource => ({ source, ownKey: undefined }),
  );

  function groupsOf(sources: readonly KeyedSource[], priceRaw: PriceRaw): OfferGroup<R>[] {
    const [first, ...rest] = planOffers({ model, sources }, priceRaw, railOf);
    if (first === undefined) return [];
    return byPayment([first, ...rest]).map((offers) => {
      const sessionHold = holdNameOf(model, offers[0].source);
      return { sessionHold, offers };
    });
  }

  return {
    model,
    ownKeys,
    stages(priceRaw) {
      const own = groupsOf(ownKeys.sourcesOf(model.id), priceRaw);
      const [first, ...rest] = [...own, ...groupsOf(pooled, priceRaw)];
      if (first === undefined) throw refuseUnsold(model);
      return [first, ...rest];
    },
  };
}
