import type { Clock } from '../kernel/clock.ts';
import { RecentMap } from '../kernel/recent-map.ts';
import { RATE_LIMITS } from './limits.ts';

export type BucketSize = {
  /** Tokens of a bucket that was not used lately. */
  readonly burst: number;
  readonly perMinute: number;
};

/**
 * Token buckets by client network, in this process's memory. A bucket refills continuously, so an empty bucket has a token
 * again before the end of a minute. An entry is the time at which its bucket is full again. At most `capacity` entries are
 * kept; the least recently used is dropped and counts as a full bucket.
 */
export class AddressBuckets {
  readonly perMinute: number;
  readonly #clock: Clock;
  readonly #fullAtMs: RecentMap<string, number>;
  readonly #tokenMs: number;
  readonly #burstMs: number;

  constructor(
    clock: Clock,
    { burst, perMinute }: BucketSize,
    capacity: number = RATE_LIMITS.addressesCounted,
  ) {
    this.perMinute = perMinute;
    this.#clock = clock;
    this.#fullAtMs = new RecentMap(capacity);
    this.#tokenMs = 60_000 / perMinute;
    this.#burstMs = burst * this.#tokenMs;
  }

  get size(): number {
    return this.#fullAtMs.size;
  }

  /** Takes a token and returns 0. With an empty bucket: takes none and returns the seconds until the next token. */
  take(network: string): number {
    const nowMs = this.#clock.monotonicMs();
    const fullAtMs = Math.max(nowMs, this.#fullAtMs.get(network) ?? 0) + this.#tokenMs;
    const missingMs = fullAtMs - nowMs - this.#burstMs;
    if (missingMs > 0) return Math.max(1, Math.ceil(missingMs / 1_000));
    this.#fullAtMs.set(network, fullAtMs);
    return 0;
  }

  /** Returns the token of a request that turned out to come from a known caller. */
  giveBack(network: string): void {
    const fullAtMs = this.#fullAtMs.get(network);
    if (fullAtMs !== undefined) this.#fullAtMs.set(network, fullAtMs - this.#tokenMs);
  }
}
