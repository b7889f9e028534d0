import type { ApiError } from '../kernel/api-error.ts';
import { LIMITS } from '../kernel/limits.ts';
import { refuse } from '../kernel/refuse.ts';
import type { Failed, Headed, RailFailure } from '../rails/outcome.ts';
import { waitOf } from '../rails/reset-time.ts';
import { limitsOf, type Served } from './receipt.ts';
import { refuseHold } from './refuse-hold.ts';
import type { Tried } from './try-sources.ts';

type Unserved = Exclude<Tried<never>['outcome'], { kind: 'completed' | 'declined' }>;

/** Why nobody has delivered, in the words of the gateway's routes, and whether the caller may try again. */
export function refuseOutcome(
  outcome: Unserved,
  tried: Tried<unknown>,
  served: Pick<Served, 'rateLimits'>,
): ApiError {
  switch (outcome.kind) {
    case 'aborted':
      return refuse.request.clientClosed();
    case 'spent':
      return outcome.refusal;
    case 'unaffordable':
      return refuseHold(outcome.refusal);
    case 'unfit':
      return refuse.gateway.invalidRequest(outcome.detail, outcome.param ?? 'messages');
    case 'resting':
      return refuse.gateway.sourcesRest(Math.max(1, Math.ceil(outcome.restMs / 1_000)));
    case 'failed':
      return refuseFailed(outcome, tried, limitsOf(served));
  }
}

function refuseFailed(
  outcome: Failed,
  { attempts, limited, source }: Tried<unknown>,
  headers: Readonly<Record<string, string>>,
): ApiError {
  const { detail, failure } = outcome;
  const wait = waitFor(outcome);
  if (attempts === 1) {
    if (failure === 'missing') return refuse.gateway.noSourceAvailable(detail);
    if (failure === 'unpayable') return refuse.gateway.sourceUnpayable(detail);
    if (failure === 'busy' && source.provider === 'local') {
      return refuse.gateway.engineBusy(wait?.seconds ?? 1);
    }
    if (failure === 'rate_limited') {
      return refuse.gateway.upstreamRateLimited(wait ?? LIMITS.usualRetryAfter, headers);
    }
  }
  return refuse.gateway.allSourcesFailed(attempts, {
    wait: wait ?? (limited && waitFor(limited.outcome)),
    headers,
    isHopeless: attempts === 1 && HOPELESS.has(failure),
  });
}

/** The same request would bring the same answer, or ask for the same price. */
const HOPELESS: ReadonlySet<RailFailure> = new Set(['oversize', 'too_dear']);

const waitFor = ({ retryAfterSeconds: seconds, retryAfterMs: ms }: Failed) =>
  seconds === null ? undefined : { seconds, ms };

/** What a refusal that is relayed says of another try: it cost nothing, so that the word is the upstream's. */
export function retryHeaders({ headers = {} }: Headed, nowMs: number): Record<string, string> {
  const { seconds, ms } = waitOf(headers, nowMs);
  const word = headers['x-should-retry'];
  return {
    ...(seconds !== null && { 'retry-after': String(seconds) }),
    ...(ms !== undefined && { 'retry-after-ms': String(ms) }),
    ...((word === 'true' || word === 'false') && { 'x-should-retry': word }),
  };
}
