import type { ChatRail, TokenUsage } from '../rails/chat-rail.ts';
import type { Model, Source } from './catalogue.ts';
import { chatPriceRaw } from './chat-usage.ts';

/** A source that could serve one request, the way to it, and the most that it would cost there. */
export type Offer = {
  readonly source: Source;
  readonly rail: ChatRail;
  readonly priceRaw: bigint;
};

/** The sources that can serve a request, cheapest for this request first. */
export function planOffers(
  model: Model,
  bound: TokenUsage,
  railOf: (source: Source) => ChatRail | undefined,
): Offer[] {
  return model.sources
    .flatMap((source) => {
      const rail = railOf(source);
      return rail === undefined ? [] : [{ source, rail, priceRaw: chatPriceRaw(bound, source) }];
    })
    .sort((a, b) => (a.priceRaw < b.priceRaw ? -1 : a.priceRaw > b.priceRaw ? 1 : 0));
}

/** The costliest offer bounds the hold, so that no fallback can cost more than what is held. */
export const holdForRaw = (offers: readonly Offer[]): bigint => offers.at(-1)?.priceRaw ?? 0n;
