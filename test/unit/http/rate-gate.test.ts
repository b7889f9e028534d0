import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/http/caller.ts';
import { createRateGate, DEFAULT_RATE_LIMITS } from '../../../src/http/rate-gate.ts';
import { createRateLimiter } from '../../../src/http/rate-limit.ts';
import { ManualClock } from '../../../src/kernel/manual-clock.ts';

const NOBODY: Caller = { kind: 'none' };

const from = (address: string) => ({
  route: { path: '/v1/x', rateLimit: 'ip', credential: 'none' } as const,
  clientAddress: () => address,
});

describe('the rate gate', () => {
  it('holds the server-wide limit however many fresh buckets come by', () => {
    const clock = new ManualClock();
    const gate = createRateGate(
      { limiter: createRateLimiter(clock, 5), serverLimiter: createRateLimiter(clock, 5) },
      { ...DEFAULT_RATE_LIMITS, globalPerMinute: 2 },
    );
    const passes = (n: number) => {
      try {
        void gate.admit(from(`203.0.113.${n}`), NOBODY, []);
        return true;
      } catch {
        return false;
      }
    };
    const passed = Array.from({ length: 60 }, (_, n) => passes(n)).filter((hasPassed) => hasPassed);
    expect(passed).toHaveLength(2);
  });
});
