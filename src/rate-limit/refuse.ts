import { type Envelope, isVendorEnvelope } from '../http/route/render-error.ts';
import type { RateLimitReason } from './errors.ts';
import { rateErrors } from './errors.ts';
import type { Allowance } from './rate-limit.ts';

/** Returns the 429 of a request that a limit does not allow, with the headers of that limit. */
export function refusal(
  reason: RateLimitReason,
  { limit, resetAtSec, retryAfterSeconds }: Omit<Allowance, 'allowed' | 'remaining'>,
  envelope: Envelope | undefined,
): Error {
  const limited = { reason, limitPerMinute: limit, resetAtSec, retryAfterSeconds };
  return isVendorEnvelope(envelope)
    ? rateErrors.gatewayLimited(limited)
    : rateErrors.rateLimited(limited);
}
