import { type Clock, soon } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { RecentMap } from '../kernel/recent-map.ts';
import { answerWithin } from '../platform/postgres/transient.ts';
import { RATE_LIMITS } from './limits.ts';
import { type Allowance, allowanceOf, type RateLimiter, type RateReader } from './rate-limit.ts';
import type { RateWindows } from './rate-store.ts';
import { TokenShare } from './token-share.ts';

type Bucket = {
  readonly share: TokenShare;
  readonly waiting: ((allowance: Allowance) => void)[];
  /** True while a claim of the bucket is queued or in progress. */
  isAsking: boolean;
};

/**
 * Holds limits over all processes on one database. Each process takes small shares of a bucket's window and counts in its own
 * memory, so most requests are answered at once; the limit errs only by shares that a process took and did not use. While the
 * database is away each process counts for itself, up to the limit per window. At most `capacity` buckets are remembered; the
 * least recently used is dropped with its share.
 */
export function createSharedRateLimiter(deps: {
  readonly windows: RateWindows;
  readonly clock: Clock;
  readonly log: Log;
  readonly capacity?: number;
}): RateLimiter & RateReader {
  const { clock, capacity = RATE_LIMITS.window.counted } = deps;
  const buckets = new RecentMap<string, Bucket>(capacity);
  const allowance = ({ share }: Bucket, allowed: boolean, nowMs: number): Allowance => {
    const { limit, remaining, endsMs } = share;
    return allowanceOf(clock, { allowed, limit, remaining, leftMs: endsMs - nowMs });
  };
  const claims = createClaims(deps, allowance);

  const bucketOf = (name: string, perMinute: number): Bucket => {
    const known = buckets.get(name);
    if (known !== undefined) return known;
    const bucket = newBucket(name, perMinute);
    buckets.set(name, bucket);
    return bucket;
  };

  return {
    take(name, perMinute) {
      const nowMs = clock.monotonicMs();
      const bucket = bucketOf(name, perMinute);
      const allowed = bucket.share.take(nowMs);
      if (allowed === undefined && !claims.isAway) {
        return new Promise((resolve) => {
          bucket.waiting.push(resolve);
          claims.ask(bucket);
        });
      }
      if (allowed === undefined || bucket.share.isLow) claims.ask(bucket);
      return allowance(bucket, allowed ?? bucket.share.takeAlone(nowMs), nowMs);
    },
    peek(name, perMinute) {
      const nowMs = clock.monotonicMs();
      const share = buckets.get(name)?.share;
      if (share === undefined || nowMs >= share.endsMs) {
        return { remaining: perMinute, resetAtSec: Math.ceil(clock.now() / 1_000) };
      }
      const { endsMs, limit, remaining } = share;
      return allowanceOf(clock, { allowed: true, limit, remaining, leftMs: endsMs - nowMs });
    },
  };
}

const newBucket = (name: string, perMinute: number): Bucket => ({
  share: new TokenShare(name, perMinute),
  waiting: [],
  isAsking: false,
});

type Claims = {
  /** Queues a claim of more tokens for the bucket, unless a claim is already queued or in progress. */
  ask(bucket: Bucket): void;
  /** True when the last claim failed, and no claim has succeeded since. */
  readonly isAway: boolean;
};

/** Creates the claims. The claims of several buckets go into one statement, and one statement runs at a time. */
function createClaims(
  { windows, clock, log }: Parameters<typeof createSharedRateLimiter>[0],
  allowance: (bucket: Bucket, allowed: boolean, nowMs: number) => Allowance,
): Claims {
  const asking = new Set<Bucket>();
  let isUnderWay = false;
  let isAway = false;
  let probeAtMs = 0;

  const ask = (bucket: Bucket) => {
    if (bucket.isAsking || (isAway && clock.monotonicMs() < probeAtMs)) return;
    bucket.isAsking = true;
    asking.add(bucket);
    if (asking.size === 1 && !isUnderWay) soon(() => void claim());
  };

  async function claim(): Promise<void> {
    isUnderWay = true;
    const batch = [...asking].slice(0, RATE_LIMITS.window.claimBuckets).map((bucket) => {
      asking.delete(bucket);
      const { share, waiting } = bucket;
      return { bucket, claim: { bucket: share.bucket, tokens: share.need(waiting.length) } };
    });
    try {
      const claimed = windows.claim(batch.map((one) => one.claim));
      const found = await answerWithin(clock, RATE_LIMITS.window.claimMs, claimed);
      isAway = false;
      const nowMs = clock.monotonicMs();
      for (const { bucket, claim } of batch) {
        const window = found.get(claim.bucket);
        bucket.isAsking = false;
        if (window !== undefined) bucket.share.receive(window, claim.tokens, nowMs);
        serve(bucket, nowMs);
      }
    } catch (err) {
      if (!isAway) log.warn({ err }, 'rate limits are counted in this process alone for now');
      countAlone([...batch.map((one) => one.bucket), ...asking]);
    }
    isUnderWay = false;
    if (asking.size > 0) soon(() => void claim());
  }

  /** Answers waiting requests after a claim. Requests that the claim does not cover wait for the next claim. */
  const serve = (bucket: Bucket, nowMs: number) => {
    const { share, waiting } = bucket;
    let served = 0;
    for (const resolve of waiting) {
      const allowed = share.take(nowMs);
      if (allowed === undefined) break;
      resolve(allowance(bucket, allowed, nowMs));
      served++;
    }
    waiting.splice(0, served);
    if (waiting.length > 0) ask(bucket);
  };

  const countAlone = (all: readonly Bucket[]) => {
    isAway = true;
    const nowMs = clock.monotonicMs();
    probeAtMs = nowMs + RATE_LIMITS.window.probeMs;
    asking.clear();
    for (const bucket of all) {
      bucket.isAsking = false;
      for (const resolve of bucket.waiting.splice(0)) {
        resolve(allowance(bucket, bucket.share.takeAlone(nowMs), nowMs));
      }
    }
  };

  return {
    ask,
    get isAway() {
      return isAway;
    },
  };
}
