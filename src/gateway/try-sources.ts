import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Outcome, RailFailure } from '../rails/outcome.ts';
import type { SourceRests } from '../rails/rest-failing-source.ts';
import type { Source } from './catalogue.ts';
import type { Offer, Offers } from './plan-offers.ts';

/** How a purchase ended, at which source, and how long the upstreams took in all. */
export type Tried<T> = {
  readonly outcome: Outcome<T> | { readonly kind: 'resting' };
  readonly source: Source;
  readonly attempts: number;
  readonly upstreamMs: number;
};

/**
 * Failures that say nothing about a source's health. Counting them would let one caller (with a request
 * that overflows, or a flood) switch a source off for everybody.
 */
const PROVES_NOTHING: ReadonlySet<RailFailure> = new Set([
  'rate_limited',
  'oversize',
  'busy',
  'missing',
]);

/** Buys from the first offer that answers. What fails is passed over; what keeps failing is not asked. */
export async function trySources<R, T>(
  deps: {
    readonly rests: SourceRests;
    readonly clock: Clock;
    readonly log: Log;
  },
  request: {
    readonly offers: Offers<R>;
    readonly ask: (offer: Offer<R>) => Promise<Outcome<T>>;
  },
): Promise<Tried<T>> {
  const { rests, clock, log } = deps;
  let last: Tried<T> = {
    outcome: { kind: 'resting' },
    source: request.offers[0].source,
    attempts: 0,
    upstreamMs: 0,
  };
  for (const offer of request.offers) {
    const { source } = offer;
    const key = `${source.provider}/${source.upstreamModel}`;
    if (!rests.admits(key)) continue;

    const startedMs = clock.monotonicMs();
    let outcome: Outcome<T> | undefined;
    try {
      outcome = await request.ask(offer);
    } finally {
      note(rests, key, outcome);
    }
    const upstreamMs = last.upstreamMs + (clock.monotonicMs() - startedMs);
    last = { outcome, source, attempts: last.attempts + 1, upstreamMs };
    if (outcome.kind !== 'failed') return last;
    const { failure, status, detail } = outcome;
    log.warn({ provider: source.provider, failure, status, detail }, 'a source failed');
  }
  return last;
}

function note(rests: SourceRests, key: string, outcome: Outcome<unknown> | undefined): void {
  if (outcome?.kind === 'completed' || outcome?.kind === 'declined') rests.answered(key);
  else if (outcome?.kind === 'failed' && !PROVES_NOTHING.has(outcome.failure)) rests.failed(key);
  else rests.abandoned(key);
}
