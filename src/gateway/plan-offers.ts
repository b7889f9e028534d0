import type { Model, Source } from './catalogue.ts';

/** A source that could serve one request, the way to it, and the most that it would cost there. */
export type Offer<R> = {
  readonly source: Source;
  readonly rail: R;
  readonly priceRaw: bigint;
};

export type Offers<R> = readonly [Offer<R>, ...Offer<R>[]];

/** The sources that can serve a request, cheapest for this request first. `railOf` knows which can. */
export function planOffers<R>(
  model: Model,
  boundRaw: (source: Source) => bigint,
  railOf: (source: Source) => R | undefined,
): Offer<R>[] {
  return model.sources
    .flatMap((source) => {
      const rail = railOf(source);
      return rail === undefined ? [] : [{ source, rail, priceRaw: boundRaw(source) }];
    })
    .sort((a, b) => (a.priceRaw < b.priceRaw ? -1 : a.priceRaw > b.priceRaw ? 1 : 0));
}

/** The costliest offer bounds the hold, so that no fallback can cost more than what is held. */
export const holdForRaw = (offers: readonly Offer<unknown>[]): bigint =>
  offers.at(-1)?.priceRaw ?? 0n;
