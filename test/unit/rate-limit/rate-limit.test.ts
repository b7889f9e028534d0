import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Allowance, createRateLimiter } from '../../../src/rate-limit/rate-limit.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('the rate limiter of one process', () => {
  it('the rate limiter admits exactly the limit in a window and is full again at the announced reset', () => {
    const clock = new ManualClock();
    const limiter = createRateLimiter(clock);
    const take = () => limiter.take('key:1', 3) as Allowance;
    expect([take(), take(), take(), take()].map(({ allowed }) => allowed)).toEqual([
      true,
      true,
      true,
      false,
    ]);
    const refused = take();
    expect(refused).toMatchObject({ remaining: 0, limit: 3, retryAfterSeconds: 60 });
    clock.advance(59_999);
    expect(take()).toMatchObject({ allowed: false, retryAfterSeconds: 1 });
    clock.advance(1);
    expect(clock.now() / 1_000).toBeGreaterThanOrEqual(refused.resetAtSec);
    expect(take()).toMatchObject({ allowed: true, remaining: 2 });
  });

  it('the rate limiter’s window does not grow when the wall clock is set back', () => {
    let backMs = 0;
    class SteppedClock extends ManualClock {
      override now(): number {
        return super.now() - backMs;
      }
    }
    const clock = new SteppedClock();
    const limiter = createRateLimiter(clock);
    const take = () => limiter.take('global', 1) as Allowance;
    expect([take().allowed, take().allowed]).toEqual([true, false]);
    backMs = 3_600_000;
    clock.advance(60_000);
    expect(take().allowed).toBe(true);
  });

  it('the rate limiter keeps buckets up to its capacity and drops the least recently used', () => {
    const clock = new ManualClock();
    const limiter = createRateLimiter(clock, 2);
    const take = (bucket: string) => (limiter.take(bucket, 1) as Allowance).allowed;
    expect([take('a'), take('b'), take('c')]).toEqual([true, true, true]);
    expect([take('b'), take('c')]).toEqual([false, false]);
    expect(take('a')).toBe(true);

    expect(take('c')).toBe(false);
    expect(take('d')).toBe(true);
    expect([take('c'), take('a')]).toEqual([false, true]);
  });

  it('the rate limiter never admits more than the limit between two resets', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 1, maxLength: 200 }),
        fc.integer({ min: 1, max: 10 }),
        (gaps, limit) => {
          const clock = new ManualClock();
          const limiter = createRateLimiter(clock);
          const admitted = new Map<number, number>();
          for (const gap of gaps) {
            clock.advance(gap);
            const { allowed, resetAtSec, remaining } = limiter.take('k', limit) as Allowance;
            expect(remaining).toBeGreaterThanOrEqual(0);
            if (allowed) admitted.set(resetAtSec, (admitted.get(resetAtSec) ?? 0) + 1);
          }
          for (const count of admitted.values()) expect(count).toBeLessThanOrEqual(limit);
        },
      ),
    );
  });
});
