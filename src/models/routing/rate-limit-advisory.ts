import { type Clock, isoTime } from '../../kernel/clock.ts';
import { BRAND } from '../../kernel/ids.ts';
import { tightestCap, type UpstreamCap, usedShareBps } from '../providers/upstream-caps.ts';
import type { Attempted } from '../purchase/attempt.ts';

export const RATE_LIMIT_ADVISORY_HEADER = `${BRAND.headerPrefix}ratelimit-advisory`;

/** Returns the value of the header. Undefined when the upstreams reported no limits. */
export type RateLimitAdvisory = (
  attempted: Pick<Attempted<unknown>, 'outcome' | 'source' | 'limited'>,
) => string | undefined;

/**
 * Creates the text that reports the rate limits of the upstream that answered, or of the last upstream that refused for its
 * limit, in one form for all vendors. Undefined when the report is switched off; then no header is read.
 */
export function createRateLimitAdvisory(deps: {
  readonly clock: Clock;
  readonly enabled: boolean;
  readonly nearLimitBps?: number | undefined;
}): RateLimitAdvisory | undefined {
  const { clock, enabled, nearLimitBps } = deps;
  if (!enabled) return undefined;
  return (attempted) => {
    const { outcome, source } =
      attempted.outcome.kind === 'failed' ? (attempted.limited ?? attempted) : attempted;
    if (!('headers' in outcome) || outcome.headers === undefined) return undefined;
    const cap = tightestCap(outcome.headers, clock.now());
    const isLimited = outcome.kind === 'failed' && outcome.failure === 'rate_limited';
    const wait = isLimited ? outcome.retryAfterSeconds : null;
    if (cap === undefined && wait === null) return undefined;
    return JSON.stringify({
      ...(nearLimitBps !== undefined && {
        near_limit: wait !== null || isNear(cap, nearLimitBps),
      }),
      provider: source.provider,
      shared: source.rail !== 'byok',
      ...(cap && { tightest: capOf(cap), headroom: cap.remaining }),
      ...(wait !== null && { retry_after_seconds: wait }),
    });
  };
}

const isNear = (cap: UpstreamCap | undefined, nearLimitBps: number): boolean => {
  const usedBps = cap && usedShareBps(cap);
  return usedBps !== undefined && usedBps >= nearLimitBps;
};

const capOf = ({ kind, remaining, limit, usedBps, resetsAtMs }: UpstreamCap) => ({
  kind,
  remaining,
  ...(limit !== undefined && { limit }),
  used_bps: usedBps,
  ...(resetsAtMs !== undefined && { resets_at: isoTime(resetsAtMs) }),
});
