import { marginRaw } from '../../kernel/price.ts';
import type { Source } from '../catalogue/catalogue.ts';
import type { KeyedSource, ModelSources } from './keyed-sources.ts';

/** A source that could serve one request, its rail, and its upper bound of the cost. */
export type Offer<R> = KeyedSource & {
  readonly rail: R;
  readonly priceRaw: bigint;
  /** Part of the price that the purchase's hold covers. A payment per call has its own hold for the remaining part. */
  readonly heldRaw: bigint;
  /** Upper bound of the payment for the call. Undefined for a source that is not paid per call. */
  readonly mostPaidRaw: bigint | undefined;
};

export type Offers<R> = readonly [Offer<R>, ...Offer<R>[]];

/**
 * Returns the offers of the sources that can serve a request, by the buyer's preference and then by price. `railOf` returns the
 * rail of a source that can serve.
 */
export function planOffers<R>(
  { sources }: ModelSources,
  boundRaw: (source: Source) => bigint,
  railOf: (source: Source) => R | undefined,
): Offer<R>[] {
  const offers: Offer<R>[] = [];
  for (const keyed of sources) {
    const rail = railOf(keyed.source);
    if (rail !== undefined) offers.push(offerOf(keyed, rail, boundRaw));
  }
  return offers.sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0) || compareRaw(a.priceRaw, b.priceRaw));
}

const compareRaw = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

function offerOf<R>(
  { ownKey, rank, source }: KeyedSource,
  rail: R,
  boundRaw: (source: Source) => bigint,
): Offer<R> {
  const isRouter = source.rail === 'x402-router';
  const mostPaidRaw = isRouter ? boundRaw({ ...source, marginBps: 0 }) : undefined;
  const heldRaw =
    mostPaidRaw === undefined ? boundRaw(source) : marginRaw(mostPaidRaw, source.marginBps);
  const priceRaw = heldRaw + (mostPaidRaw ?? 0n);
  return { source, ownKey, rank, rail, priceRaw, heldRaw, mostPaidRaw };
}

/** Returns the largest held amount of all offers, so that no fallback can cost more than the hold. */
export function holdForRaw(offers: readonly Offer<unknown>[]): bigint {
  let most = 0n;
  for (const { heldRaw } of offers) if (heldRaw > most) most = heldRaw;
  return most;
}

export const isPaidByItself = ({ mostPaidRaw }: Offer<unknown>): boolean =>
  mostPaidRaw !== undefined;

/**
 * Groups offers by their kind of payment: paid per call, or through an account of this server. A payment per call has its own
 * hold, and beside a hold of the other kind the cost would count twice under every cap. Ranks stay in order; within a rank, the
 * kind of the cheapest offer comes first.
 */
export function byPayment<R>(offers: Offers<R>): readonly [Offers<R>, ...Offers<R>[]] {
  const [first, ...rest] = offers;
  const groups: [Group<R>, ...Group<R>[]] = [[first]];
  for (const offer of rest) {
    const group = groupFor(offer, groups);
    if (group === undefined) groups.push([offer]);
    else group.push(offer);
  }
  return groups;
}

type Group<R> = [Offer<R>, ...Offer<R>[]];

/**
 * Returns the group that an offer joins: the last group if it has the offer's kind of payment, or the group before it if that
 * group ends with an offer of the same rank. Undefined when the offer begins a new group.
 */
function groupFor<R>(offer: Offer<R>, groups: readonly Group<R>[]): Group<R> | undefined {
  const last = groups.at(-1);
  if (last && isPaidByItself(last[0]) === isPaidByItself(offer)) return last;
  const other = groups.at(-2);
  return other?.at(-1)?.rank === offer.rank ? other : undefined;
}
