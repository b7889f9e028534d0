import { LIMITS } from '../../kernel/limits.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import { chooseOffer, type PaymentOffer } from '../../x402/offer.ts';

/** Last prices that vendors asked for, for refusals that are made before a vendor is asked again. */
export type AskedPrices = {
  note(target: PricedTarget, offers: readonly PaymentOffer[]): void;
  /** Undefined where this process has not been asked for a payment there. */
  last(target: PricedTarget): bigint | undefined;
};

export type PricedTarget = { readonly method: string; readonly url: string };

const keyOf = ({ method, url }: PricedTarget) => `${method} ${url}`;

/** Remembers the price of a bounded number of targets; the least recently used one is dropped. */
export function createAskedPrices(): AskedPrices {
  const prices = new RecentMap<string, bigint>(LIMITS.askedPricesKept);
  return {
    note(target, offers) {
      const offer = chooseOffer(offers);
      if (offer !== undefined) prices.set(keyOf(target), offer.amountRaw);
    },
    last: (target) => prices.get(keyOf(target)),
  };
}
