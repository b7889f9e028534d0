import type { Clock } from '../../kernel/clock.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import type { GuardedClient } from '../../platform/egress/guarded-client.ts';
import type { SpendStateReader } from '../../spend/limits/spend-state.ts';
import type { Terms } from '../../x402/offer.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import { createTargetCheck } from '../proxy/check-target.ts';
import type { Marketplace } from '../proxy/marketplace.ts';
import { estimateCall } from './estimate-call.ts';
import { type ForecastRequest, forecastCalls } from './forecast-calls.ts';
import { createPriceQuotes } from './price-quotes.ts';
import { createProbe } from './probe-target.ts';
import type { PlannedCall } from './prospect.ts';

export type Prices = ReturnType<typeof createPrices>;

/** Creates the price questions that agents may ask before a payment. They move no money. */
export function createPrices(deps: {
  readonly client: Pick<GuardedClient, 'open' | 'send'>;
  readonly spendState: Pick<SpendStateReader, 'read'>;
  readonly marketplace: Pick<Marketplace, 'host' | 'matches' | 'priceOf'>;
  readonly terms: Terms;
  readonly clock: Clock;
}) {
  const quotes = createPriceQuotes({
    probe: createProbe({ ...deps, atOnce: PAYMENT_LIMITS.quote.underWay }),
    clock: deps.clock,
  });
  const asking = { ...deps, quotes };
  return {
    check: createTargetCheck({
      ...deps,
      probe: createProbe({ ...deps, atOnce: PAYMENT_LIMITS.quote.checksUnderWay }),
    }),
    estimate: (spender: Spender, wanted: PlannedCall) => estimateCall(asking, spender, wanted),
    forecast: (spender: Spender, wishes: readonly ForecastRequest[]) =>
      forecastCalls(asking, spender, wishes),
  };
}
