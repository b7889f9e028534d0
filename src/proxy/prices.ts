import type { StandingsReader } from '../controls/standings.ts';
import type { GuardedClient } from '../egress/guarded-client.ts';
import type { Clock } from '../kernel/clock.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Spender } from '../ledger/ledger.ts';
import type { Terms } from '../x402/offer.ts';
import { createTargetCheck } from './check-target.ts';
import { estimateCall } from './estimate-call.ts';
import { type ForecastWish, forecastCalls } from './forecast-calls.ts';
import { createPriceQuotes } from './price-quotes.ts';
import { createProbe } from './probe-target.ts';
import type { CallWish } from './prospect.ts';

export type Prices = ReturnType<typeof createPrices>;

/** What may be asked of targets before anything is paid. Nothing moves by asking. */
export function createPrices(deps: {
  readonly client: Pick<GuardedClient, 'open' | 'send'>;
  readonly standings: Pick<StandingsReader, 'read'>;
  readonly terms: Terms;
  readonly clock: Clock;
}) {
  const quotes = createPriceQuotes({
    probe: createProbe({ ...deps, atOnce: LIMITS.quotesUnderWay }),
    clock: deps.clock,
  });
  const asking = { ...deps, quotes };
  return {
    check: createTargetCheck({
      ...deps,
      probe: createProbe({ ...deps, atOnce: LIMITS.checksUnderWay }),
    }),
    estimate: (spender: Spender, wish: CallWish) => estimateCall(asking, spender, wish),
    forecast: (spender: Spender, wishes: readonly ForecastWish[]) =>
      forecastCalls(asking, spender, wishes),
  };
}
