import { mayRetryAfter, refusal } from '../kernel/refusal.ts';

export type RateLimitReason =
  | 'agent_proxy_limit'
  | 'agent_ledger_limit'
  | 'agent_control_limit'
  | 'ip_rate_limit'
  | 'global_rate_limit'
  | 'key_rate_limit'
  | 'gateway_limit';

/** Rate limit that a request exceeded. */
export type BrokenLimit = {
  readonly reason: RateLimitReason;
  readonly retryAfterSeconds: number;
  readonly limitPerMinute: number;
  /** Unix seconds at which the full limit is available again. */
  readonly resetAtSec: number;
};

/** Returns the headers of a 429: the rate headers of every answer of a limited route, and the retry time. */
const limitHeaders = (limit: Omit<BrokenLimit, 'reason'>): Record<string, string> => ({
  'x-ratelimit-limit': String(limit.limitPerMinute),
  'x-ratelimit-remaining': '0',
  'x-ratelimit-reset': String(limit.resetAtSec),
  ...mayRetryAfter(limit.retryAfterSeconds),
});

/** Refusals of a request that exceeds a rate limit, in the two dialects of errors. */
export const rateErrors = {
  rateLimited: (limit: BrokenLimit) =>
    refusal(
      429,
      'rate_limit_exceeded',
      `Too many requests; try again in ${limit.retryAfterSeconds} s.`,
      {
        reason: limit.reason,
        retry_after_seconds: limit.retryAfterSeconds,
        limit_per_minute: limit.limitPerMinute,
        remaining: 0,
      },
      limitHeaders(limit),
    ),
  gatewayLimited: (limit: Omit<BrokenLimit, 'reason'>) =>
    refusal(
      429,
      'rate_limited',
      `Too many requests; try again in ${limit.retryAfterSeconds} s.`,
      { retry_after_seconds: limit.retryAfterSeconds },
      limitHeaders(limit),
    ),
};
