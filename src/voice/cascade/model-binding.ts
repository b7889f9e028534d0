import type { Model, Source } from '../../models/catalogue/catalogue.ts';
import { refuseUnsold } from '../../models/catalogue/require-model.ts';
import type { Rails } from '../../models/routing/open-rails.ts';
import { type Offers, planOffers } from '../../models/routing/plan-offers.ts';
import type { Seller } from '../../models/routing/sellers.ts';
import type { OwnKeys } from './own-keys.ts';

/** Those who are asked one after another under one hold. */
export type SellerGroup<R> = {
  /** Which of the session's holds pays them. */
  readonly sessionHold: string;
  readonly offers: Offers<R>;
};

export type SellerGroups<R> = readonly [SellerGroup<R>, ...SellerGroup<R>[]];

type PriceRaw = (source: Source) => bigint;

/** A model of a session, and who sells it: for a key of its caller's own first. */
export type ModelBinding<R> = {
  readonly model: Model;
  /** The sellers to ask, cheapest first for a price. Throws the refusal where none can serve it. */
  readonly stages: (priceRaw: PriceRaw) => SellerGroups<R>;
  readonly ownKeys: OwnKeys;
};

const byPrice = (
  { offers: [a] }: SellerGroup<unknown>,
  { offers: [b] }: SellerGroup<unknown>,
): number => (a.priceRaw < b.priceRaw ? -1 : a.priceRaw > b.priceRaw ? 1 : 0);

/** Which of a session's holds pays a source of a model. */
export type HoldNameOf = (model: Model, source: Source) => string;

/**
 * A model as a session buys it. Sources that are paid by themselves are asked apart from those that this server has
 * accounts at, the kind of the cheapest first, as `inStages` has it: a payment has a hold of its own.
 */
export function bindModel<R>(options: {
  readonly model: Model;
  readonly rails: Pick<Rails<R>, 'railOf'>;
  readonly canServe?: (rail: R) => boolean;
  readonly ownKeys: OwnKeys;
  readonly holdNameOf: HoldNameOf;
}): ModelBinding<R> {
  const { canServe = () => true, model, ownKeys, holdNameOf, rails } = options;
  const pooled = model.sources
    .filter(({ rail }) => rail !== 'byok')
    .map((source) => ({ source, ownKey: undefined }));
  const isRouter = ({ source }: Seller): boolean => source.rail === 'x402-router';
  const routers = pooled.filter(isRouter);
  const accounts = pooled.filter((seller) => !isRouter(seller));

  function stageOf(sellers: readonly Seller[], priceRaw: PriceRaw): SellerGroup<R>[] {
    const [first, ...rest] = planOffers({ model, sellers }, priceRaw, (source) =>
      rails.railOf(source),
    ).filter(({ rail }) => canServe(rail));
    if (first === undefined) return [];
    return [{ sessionHold: holdNameOf(model, first.source), offers: [first, ...rest] }];
  }

  return {
    model,
    ownKeys,
    stages(priceRaw) {
      const own = stageOf(ownKeys.sellersOf(model.id), priceRaw);
      const pool = [...stageOf(accounts, priceRaw), ...stageOf(routers, priceRaw)];
      const [first, ...rest] = [...own, ...pool.sort(byPrice)];
      if (first === undefined) throw refuseUnsold(model);
      return [first, ...rest];
    },
  };
}
