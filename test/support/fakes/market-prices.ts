import type { MarketPrice, Marketplace } from '../../../src/payments/proxy/marketplace.ts';

/** A marketplace at `market.example`, whose prices are as told; without a price there is none to be found. */
export const marketPrices = (
  price?: MarketPrice | Error,
): Pick<Marketplace, 'host' | 'matches' | 'priceOf'> => ({
  host: 'market.example',
  matches: (url) => new URL(url).hostname === 'market.example',
  async priceOf() {
    if (price === undefined || price instanceof Error) throw price ?? new Error('not asked');
    return price;
  },
});
