import { RecentMap } from '../../kernel/recent-map.ts';
import { chooseOffer, type PaymentOffer } from '../../x402/offer.ts';
import { PAYMENT_LIMITS } from '../limits.ts';

/** Last prices that vendors requested, for refusals before a vendor is called again. */
export type RememberedPrices = {
  note(target: PricedTarget, offers: readonly PaymentOffer[]): void;
  /** Returns the last price of a target. Undefined when the target has not requested a payment from this process. */
  last(target: PricedTarget): bigint | undefined;
};

export type PricedTarget = { readonly method: string; readonly url: string };

const keyOf = ({ method, url }: PricedTarget) => `${method} ${url}`;

/** Keeps the prices of a bounded number of targets; the least recently used price is dropped. */
export function createRememberedPrices(): RememberedPrices {
  const prices = new RecentMap<string, bigint>(PAYMENT_LIMITS.quote.askedPricesKept);
  return {
    note(target, offers) {
      const offer = chooseOffer(offers);
      if (offer !== undefined) prices.set(keyOf(target), offer.amountRaw);
    },
    last: (target) => prices.get(keyOf(target)),
  };
}
