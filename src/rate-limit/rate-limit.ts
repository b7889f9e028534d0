import type { HeaderLine } from '../http/route/answer.ts';
import type { Clock } from '../kernel/clock.ts';
import { RecentMap } from '../kernel/recent-map.ts';
import { RATE_LIMITS } from './limits.ts';

/** Verdict of one bucket on one request. */
export type Allowance = {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds at which the bucket is full again. */
  readonly resetAtSec: number;
  readonly retryAfterSeconds: number;
};

/** Counts requests against limits. A limiter that reads shared counts returns a promise, which never rejects. */
export interface RateLimiter {
  /** Takes one token of a bucket with `perMinute` tokens a minute. A refused request takes no token. */
  take(bucket: string, perMinute: number): Allowance | Promise<Allowance>;
}

/** Reads the counts of requests without taking a token. */
export interface RateReader {
  /** Returns what this process knows of a bucket. A bucket without requests in this minute is full. */
  peek(bucket: string, perMinute: number): Pick<Allowance, 'remaining' | 'resetAtSec'>;
}

type Window = { startedMs: number; taken: number };

/**
 * Counts in this process's memory: a window of a minute per bucket, begun by its first request. At most `capacity` buckets are
 * remembered; the least recently used is forgotten first, so a bucket that every request uses, such as the server-wide one,
 * stays.
 */
export function createRateLimiter(
  clock: Clock,
  capacity: number = RATE_LIMITS.window.counted,
): RateLimiter {
  const windows = new RecentMap<string, Window>(capacity);

  const windowOf = (bucket: string, nowMs: number): Window => {
    const known = windows.get(bucket);
    if (known !== undefined && nowMs - known.startedMs < RATE_LIMITS.window.lifeMs) return known;
    const window = { startedMs: nowMs, taken: 0 };
    windows.set(bucket, window);
    return window;
  };

  return {
    take(bucket, perMinute) {
      // Monotonic, because a wall clock that is set back would keep every window for as long.
      const nowMs = clock.monotonicMs();
      const window = windowOf(bucket, nowMs);
      const allowed = window.taken < perMinute;
      if (allowed) window.taken += 1;
      const leftMs = window.startedMs + RATE_LIMITS.window.lifeMs - nowMs;
      const remaining = perMinute - window.taken;
      return allowanceOf(clock, { allowed, limit: perMinute, remaining, leftMs });
    },
  };
}

/** Returns the allowance of a window that ends in `leftMs`. */
export const allowanceOf = (
  clock: Clock,
  window: Pick<Allowance, 'allowed' | 'limit' | 'remaining'> & { readonly leftMs: number },
): Allowance => ({
  allowed: window.allowed,
  limit: window.limit,
  remaining: window.remaining,
  resetAtSec: Math.ceil((clock.now() + window.leftMs) / 1_000),
  retryAfterSeconds: Math.max(1, Math.ceil(window.leftMs / 1_000)),
});

/** Returns the rate headers of an admitted request. */
export const rateHeaders = (allowance: Allowance): readonly HeaderLine[] => [
  ['x-ratelimit-limit', String(allowance.limit)],
  ['x-ratelimit-remaining', String(Math.max(0, allowance.remaining))],
  ['x-ratelimit-reset', String(allowance.resetAtSec)],
];

export const isRateHeader = ([name]: HeaderLine): boolean => name.startsWith('x-ratelimit-');
