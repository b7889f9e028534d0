import { requestErrors } from '../../http/route/errors.ts';
import type { ApiError } from '../../kernel/api-error.ts';
import { gatewayErrors } from '../errors.ts';
import { MODEL_LIMITS } from '../limits.ts';
import type { Failed, Headed, RailFailure } from '../providers/outcome.ts';
import { waitOf } from '../providers/reset-time.ts';
import type { Relayed } from '../purchase/answer.ts';
import type { AttemptDeps, Attempts, Undelivered } from '../purchase/attempt.ts';
import { limitsOf, passthroughHeaders, type Served } from '../purchase/receipt.ts';
import { refuseHold } from '../purchase/refuse-hold.ts';

/**
 * Answers a caller when no source delivered: relays a refusal of the upstream, which has cost nothing, and throws every other
 * outcome.
 */
export function answerUndelivered(
  { clock, log }: Pick<AttemptDeps, 'clock' | 'log'>,
  attempted: Undelivered,
  served: Served,
): Relayed {
  const { outcome, source, upstreamMs } = attempted;
  if (outcome.kind !== 'declined') throw refuseOutcome(outcome, attempted, served);
  const { body, contentType, status } = outcome;
  if (source.rail !== 'byok' && (status === 401 || status === 403)) {
    // The refusal is relayed like every other 4xx, but it is about the operator's credential.
    log.error(
      { provider: source.provider, status },
      'a provider refused the credential of this server',
    );
  }
  const headers = {
    'content-type': contentType,
    ...passthroughHeaders(served),
    ...retryHeaders(outcome, clock.now()),
  };
  return { status, body, headers, upstreamMs };
}

type Refused = Exclude<Undelivered['outcome'], { kind: 'declined' }>;

/** Returns the error for a request that no source delivered, with advice when the caller may try again. */
export function refuseOutcome(
  outcome: Refused,
  attempted: Attempts,
  served: Pick<Served, 'rateLimits'>,
): ApiError {
  switch (outcome.kind) {
    case 'aborted':
      return requestErrors.clientClosed();
    case 'spent':
      return outcome.refusal;
    case 'unaffordable':
      return refuseHold(outcome.refusal);
    case 'unfit':
      return gatewayErrors.invalidRequest(outcome.detail, outcome.param ?? 'messages');
    case 'resting':
      return gatewayErrors.sourcesRest(Math.max(1, Math.ceil(outcome.restMs / 1_000)));
    case 'failed':
      return refuseFailed(outcome, attempted, limitsOf(served));
  }
}

function refuseFailed(
  outcome: Failed,
  { attempts, limited, source }: Attempts,
  headers: Readonly<Record<string, string>>,
): ApiError {
  const { detail, failure } = outcome;
  const wait = waitFor(outcome);
  if (attempts === 1) {
    if (failure === 'missing') return gatewayErrors.noSourceAvailable(detail);
    if (failure === 'unpayable') return gatewayErrors.sourceUnpayable(detail);
    if (failure === 'busy' && source.provider === 'local') {
      return gatewayErrors.engineBusy(wait?.seconds ?? 1);
    }
    if (failure === 'rate_limited') {
      return gatewayErrors.upstreamRateLimited(
        wait ?? MODEL_LIMITS.upstream.usualRetryAfter,
        headers,
      );
    }
  }
  return gatewayErrors.allSourcesFailed(attempts, {
    wait: wait ?? (limited && waitFor(limited.outcome)),
    headers,
    isHopeless: attempts === 1 && HOPELESS.has(failure),
  });
}

/** Failures that a retry would repeat: the request would get the same answer or the same price. */
const HOPELESS: ReadonlySet<RailFailure> = new Set(['oversize', 'too_dear']);

const waitFor = ({ retryAfterSeconds: seconds, retryAfterMs: ms }: Failed) =>
  seconds === null ? undefined : { seconds, ms };

/** Returns the upstream's own retry headers for a refusal that is relayed. */
function retryHeaders({ headers = {} }: Headed, nowMs: number): Record<string, string> {
  const { seconds, ms } = waitOf(headers, nowMs);
  const word = headers['x-should-retry'];
  return {
    ...(seconds !== null && { 'retry-after': String(seconds) }),
    ...(ms !== undefined && { 'retry-after-ms': String(ms) }),
    ...((word === 'true' || word === 'false') && { 'x-should-retry': word }),
  };
}
