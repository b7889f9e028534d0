import { describe, expect, it } from 'vitest';
import { FairShares } from '../../../src/rate-limit/fair-shares.ts';
import { RATE_LIMITS } from '../../../src/rate-limit/limits.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** How many of `n` requests of a party pass. */
const passed = (shares: FairShares, party: string, n: number) =>
  Array.from({ length: n }, () => shares.take(party)).filter((refused) => refused === undefined)
    .length;

describe('fair shares', () => {
  it('fair shares give a lone client the whole limit', () => {
    const shares = new FairShares(new ManualClock(), { perMinute: 100, least: 1 });
    expect(passed(shares, 'a', 150)).toBe(100);
  });

  it('fair shares give a late client an equal part and refuse a client that had more', () => {
    const clock = new ManualClock();
    const shares = new FairShares(clock, { perMinute: 100, least: 1 });
    passed(shares, 'a', 100);
    expect(passed(shares, 'b', 100)).toBe(50);
    expect(passed(shares, 'c', 100)).toBe(33);
    clock.advance(20_000);
    expect(shares.take('a')).toEqual({
      allowed: false,
      limit: 33,
      remaining: 0,
      retryAfterSeconds: 40,
      resetAtSec: Math.ceil((clock.now() + 40_000) / 1_000),
    });
    clock.advance(40_000);
    expect(passed(shares, 'a', 150)).toBe(100);
  });

  it('fair shares give each of many clients the least share and no more', () => {
    const shares = new FairShares(new ManualClock(), { perMinute: 100, least: 3 });
    const all = Array.from({ length: 200 }, (_, n) => passed(shares, `party ${n}`, 100));
    expect(all.slice(100)).toEqual(Array.from({ length: 100 }, () => 3));
  });

  it('fair shares admit more clients than they remember', () => {
    const shares = new FairShares(new ManualClock(), { perMinute: 100, least: 1 });
    let refused = 0;
    for (let n = 0; n < RATE_LIMITS.addressesCounted + 10; n++) {
      if (shares.take(`party ${n}`) !== undefined) refused += 1;
    }
    expect(refused).toBe(0);
    expect(passed(shares, 'party 0', 5)).toBe(1);
  });
});
