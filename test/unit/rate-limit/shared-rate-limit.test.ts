import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/kernel/log.ts';
import type { Allowance } from '../../../src/rate-limit/rate-limit.ts';
import type { RateWindows, SharedWindow, TokenClaim } from '../../../src/rate-limit/rate-store.ts';
import { createSharedRateLimiter } from '../../../src/rate-limit/shared-rate-limit.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** The shared windows in memory, in the time of the test. */
class MemoryWindows implements RateWindows {
  readonly calls: (readonly TokenClaim[])[] = [];
  readonly #clock: ManualClock;
  readonly #windows = new Map<string, { startedMs: number; taken: number }>();
  mode: 'answers' | 'fails' | 'hangs' = 'answers';

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  async claim(claims: readonly TokenClaim[]): Promise<ReadonlyMap<string, SharedWindow>> {
    this.calls.push(claims);
    if (this.mode === 'hangs') return new Promise(() => {});
    if (this.mode === 'fails') throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
    return new Map(claims.map((claim) => [claim.bucket, this.#count(claim)]));
  }

  #count({ bucket, tokens }: TokenClaim): SharedWindow {
    const nowMs = this.#clock.now();
    const known = this.#windows.get(bucket);
    const isOn = known !== undefined && nowMs < known.startedMs + 60_000;
    const window = isOn ? known : { startedMs: nowMs, taken: 0 };
    window.taken += tokens;
    this.#windows.set(bucket, window);
    const leftMs = window.startedMs + 60_000 - nowMs;
    return { windowId: String(window.startedMs), taken: window.taken, leftMs };
  }
}

function world(processes = 1, capacity?: number) {
  const clock = new ManualClock();
  const windows = new MemoryWindows(clock);
  const deps = { windows, clock, log: silentLog, ...(capacity === undefined ? {} : { capacity }) };
  return {
    clock,
    windows,
    limiters: Array.from({ length: processes }, () => createSharedRateLimiter(deps)),
  };
}

/** Until everything that is ready has run. */
const settle = async () => {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
};

const LIMITS_TRIED = [1, 60, 100, 300, 3_000];

describe('a limit that two processes share', () => {
  it('a rate limit shared by two processes admits exactly the limit when both use it up', async () => {
    for (const limit of LIMITS_TRIED) {
      const { limiters } = world(2);
      let allowed = 0;
      for (let n = 0; n < 10_000; n++) {
        const allowance = await limiters[n % 2]?.take('k', limit);
        if (allowance?.allowed === true) allowed++;
      }
      expect(allowed).toBe(limit);
    }
  });

  it('a shared rate limit errs by less than 5 % when one process used it once and never again', async () => {
    for (const limit of LIMITS_TRIED) {
      const { limiters } = world(2);
      await limiters[0]?.take('k', limit);
      await settle();
      let allowed = 1;
      for (let n = 0; n < 10_000; n++) {
        if ((await limiters[1]?.take('k', limit))?.allowed === true) allowed++;
      }
      expect(allowed).toBeLessThanOrEqual(limit);
      expect(allowed).toBeGreaterThanOrEqual(limit * 0.95);
    }
  });

  it('a shared rate limit reads the database for under one request in ten, and never once the window is used up', async () => {
    for (const limit of [300, 3_000]) {
      const { limiters, windows } = world(2);
      for (let n = 0; n < 10_000; n++) {
        await limiters[n % 2]?.take('k', limit);
        if (n % 10 === 0) await settle();
      }
      expect(windows.calls.length).toBeLessThanOrEqual(1_000);
      const before = windows.calls.length;
      for (let n = 0; n < 100; n++)
        expect(limiters[0]?.take('k', limit)).toMatchObject({ allowed: false });
      expect(windows.calls.length).toBe(before);
    }
  });

  it('a shared rate limit answers at once while it has tokens and claims the next ones before they run out', async () => {
    const { limiters, windows } = world();
    const [limiter] = limiters;
    await limiter?.take('k', 3_000);
    let waited = 0;
    for (let n = 0; n < 500; n++) {
      const allowance = limiter?.take('k', 3_000);
      if (allowance instanceof Promise) waited++;
      await allowance;
      await settle();
    }
    expect(waited).toBe(0);
    expect(windows.calls.length).toBeLessThan(12);
  });

  it('a shared rate limit combines claims for many buckets into one statement', async () => {
    const { limiters, windows } = world();
    const asked = Array.from({ length: 100 }, (_, n) => limiters[0]?.take(`ip:${n}`, 60));
    const answers = await Promise.all(asked);
    expect(answers.every((answer) => answer?.allowed)).toBe(true);
    expect(windows.calls).toHaveLength(1);
  });

  it('a shared rate limit admits exactly the limit of a thousand concurrent requests', async () => {
    const { limiters } = world();
    const crowd = Array.from({ length: 1_000 }, () => limiters[0]?.take('k', 300));
    const answers = await Promise.all(crowd);
    expect(answers.filter((answer) => answer?.allowed)).toHaveLength(300);
    expect(answers.at(-1)).toMatchObject({ allowed: false, remaining: 0, limit: 300 });
  });

  it('a shared rate limit announces a correct reset and a remaining count that never goes negative', async () => {
    const { limiters, clock } = world();
    const take = async () => (await limiters[0]?.take('k', 100)) as Allowance;
    const first = await take();
    expect(first).toMatchObject({ allowed: true, limit: 100, remaining: 99 });
    expect(first.resetAtSec).toBe(Math.ceil((clock.now() + 60_000) / 1_000));
    let last = first.remaining;
    for (let n = 1; n < 150; n++) {
      const { allowed, remaining } = await take();
      expect(remaining).toBeLessThanOrEqual(last);
      expect(remaining).toBeGreaterThanOrEqual(0);
      expect(allowed).toBe(n < 100);
      last = remaining;
    }
    expect((await take()).retryAfterSeconds).toBe(60);
    clock.advance(60_000);
    expect(await take()).toMatchObject({ allowed: true, remaining: 99 });
  });
});

describe('a limit whose database is away', () => {
  it('a shared rate limit without its database limits each process alone and answers at once', async () => {
    const { limiters, windows, clock } = world();
    windows.mode = 'fails';
    expect(await limiters[0]?.take('k', 100)).toMatchObject({ allowed: true });
    const answers = Array.from({ length: 200 }, () => limiters[0]?.take('k', 100));
    expect(answers.some((answer) => answer instanceof Promise)).toBe(false);
    expect(answers.filter((answer) => (answer as Allowance).allowed)).toHaveLength(99);
    expect(windows.calls).toHaveLength(1);
    clock.advance(60_000);
    expect(limiters[0]?.take('k', 100)).toMatchObject({ allowed: true });
  });

  it('a shared rate limit waits a second for a database that hangs, then retries at most once a second', async () => {
    const { limiters, windows, clock } = world();
    windows.mode = 'hangs';
    const asked = limiters[0]?.take('k', 60);
    await settle();
    clock.advance(1_000);
    expect(await asked).toMatchObject({ allowed: true });
    for (let n = 0; n < 50; n++) {
      expect(limiters[0]?.take('k', 60)).not.toBeInstanceOf(Promise);
      await settle();
      clock.advance(100);
    }
    expect(windows.calls.length).toBeGreaterThan(1);
    expect(windows.calls.length).toBeLessThanOrEqual(6);
  });

  it('a shared rate limit is shared again as soon as its database is back', async () => {
    const { limiters, windows, clock } = world(2);
    windows.mode = 'fails';
    for (const limiter of limiters) await limiter.take('k', 100);
    windows.mode = 'answers';
    clock.advance(1_000);
    for (const limiter of limiters) await limiter.take('k', 100);
    await settle();
    clock.advance(60_000);
    let allowed = 0;
    for (let n = 0; n < 1_000; n++) {
      if ((await limiters[n % 2]?.take('k', 100))?.allowed === true) allowed++;
    }
    expect(allowed).toBe(100);
  });
});

it('a shared rate limit keeps buckets up to its capacity', async () => {
  const { limiters, windows } = world(1, 2);
  for (const bucket of ['a', 'b', 'c']) await limiters[0]?.take(bucket, 3_000);
  expect(windows.calls).toHaveLength(3);
  expect(limiters[0]?.take('b', 3_000)).not.toBeInstanceOf(Promise);
  expect(limiters[0]?.take('a', 3_000)).toBeInstanceOf(Promise);
});
