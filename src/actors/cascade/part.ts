import type { Model, Source } from '../../gateway/catalogue.ts';
import type { Rails } from '../../gateway/open-rails.ts';
import { type Offers, planOffers } from '../../gateway/plan-offers.ts';
import { refuseUnsold } from '../../gateway/require-model.ts';
import type { Seller } from '../../gateway/sellers.ts';
import type { OwnKeys } from './own-keys.ts';

/** Those who are asked one after another under one hold. */
export type Stage<R> = {
  /** Which of the session's purses pays them. */
  readonly purse: string;
  readonly offers: Offers<R>;
};

export type Stages<R> = readonly [Stage<R>, ...Stage<R>[]];

type PriceRaw = (source: Source) => bigint;

/** A model of a session, and who sells it: for a key of its caller's own first. */
export type Part<R> = {
  readonly model: Model;
  /** Whom to ask, cheapest first for a price. Throws the refusal where nobody can serve it. */
  readonly stages: (priceRaw: PriceRaw) => Stages<R>;
  readonly ownKeys: OwnKeys;
};

const byPrice = ({ offers: [a] }: Stage<unknown>, { offers: [b] }: Stage<unknown>): number =>
  a.priceRaw < b.priceRaw ? -1 : a.priceRaw > b.priceRaw ? 1 : 0;

/** Which of a session's purses pays a source of a model. */
export type PurseOf = (model: Model, source: Source) => string;

/**
 * A model as a session buys it. Sources that are paid by themselves are asked apart from those that this server has
 * accounts at, the kind of the cheapest first, as `inStages` has it: a payment has a hold of its own.
 */
export function createPart<R>(options: {
  readonly model: Model;
  readonly rails: Pick<Rails<R>, 'railOf'>;
  readonly canServe?: (rail: R) => boolean;
  readonly ownKeys: OwnKeys;
  readonly purseOf: PurseOf;
}): Part<R> {
  const { canServe = () => true, model, ownKeys, purseOf, rails } = options;
  const pooled = model.sources
    .filter(({ rail }) => rail !== 'byok')
    .map((source) => ({ source, ownKey: undefined }));
  const isRouter = ({ source }: Seller): boolean => source.rail === 'x402-router';
  const routers = pooled.filter(isRouter);
  const accounts = pooled.filter((seller) => !isRouter(seller));

  function stageOf(sellers: readonly Seller[], priceRaw: PriceRaw): Stage<R>[] {
    const [first, ...rest] = planOffers({ model, sellers }, priceRaw, (source) =>
      rails.railOf(source),
    ).filter(({ rail }) => canServe(rail));
    if (first === undefined) return [];
    return [{ purse: purseOf(model, first.source), offers: [first, ...rest] }];
  }

  return {
    ...{ model, ownKeys },
    stages(priceRaw) {
      const own = stageOf(ownKeys.sellersOf(model.id), priceRaw);
      const pool = [...stageOf(accounts, priceRaw), ...stageOf(routers, priceRaw)];
      const [first, ...rest] = [...own, ...pool.sort(byPrice)];
      if (first === undefined) throw refuseUnsold(model);
      return [first, ...rest];
    },
  };
}
