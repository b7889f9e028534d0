import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const { min, max } = MODEL_LIMITS.upstream.restMs;

function world() {
  const clock = new ManualClock();
  const breaker = createSourceRests({ clock });
  const failTimes = (times: number) => {
    for (let i = 0; i < times; i++) breaker.failed('a');
  };
  return { clock, breaker, failTimes };
}

describe('a source that keeps failing', () => {
  it('the circuit breaker makes a source back off after several failures in a row, and no other source', () => {
    const { breaker, failTimes } = world();
    failTimes(MODEL_LIMITS.upstream.restAfterFailures - 1);
    expect(breaker.admits('a')).toBe(true);
    failTimes(1);
    expect(breaker.admits('a')).toBe(false);
    expect(breaker.admits('b')).toBe(true);
  });

  it('the circuit breaker starts counting failures anew after a response', () => {
    const { breaker, failTimes } = world();
    failTimes(MODEL_LIMITS.upstream.restAfterFailures - 1);
    breaker.answered('a');
    failTimes(MODEL_LIMITS.upstream.restAfterFailures - 1);
    expect(breaker.admits('a')).toBe(true);
  });

  it('the circuit breaker lets one caller probe a source after its backoff, and readmits the source after one response', () => {
    const { clock, breaker, failTimes } = world();
    failTimes(MODEL_LIMITS.upstream.restAfterFailures);
    clock.advance(min - 1);
    expect(breaker.admits('a')).toBe(false);
    clock.advance(1);
    expect(breaker.admits('a')).toBe(true);
    expect(breaker.admits('a')).toBe(false);
    breaker.answered('a');
    expect(breaker.admits('a')).toBe(true);
    expect(breaker.admits('a')).toBe(true);
  });

  it('the circuit breaker doubles a source’s backoff after each failed probe, up to a limit', () => {
    const { clock, breaker, failTimes } = world();
    failTimes(MODEL_LIMITS.upstream.restAfterFailures);
    for (let restMs = min; restMs < max * 4; restMs *= 2) {
      const expected = Math.min(restMs, max);
      clock.advance(expected - 1);
      expect(breaker.admits('a')).toBe(false);
      clock.advance(1);
      expect(breaker.admits('a')).toBe(true);
      breaker.failed('a');
    }
  });

  it('the circuit breaker allows another probe when a probe ended without a response', () => {
    const { clock, breaker, failTimes } = world();
    failTimes(MODEL_LIMITS.upstream.restAfterFailures);
    clock.advance(min);
    expect(breaker.admits('a')).toBe(true);
    breaker.abandoned('a');
    expect(breaker.admits('a')).toBe(true);
  });

  it('the circuit breaker does not extend a backoff for requests that were in flight when it began', () => {
    const { clock, breaker, failTimes } = world();
    failTimes(MODEL_LIMITS.upstream.restAfterFailures + 20);
    clock.advance(min);
    expect(breaker.admits('a')).toBe(true);
  });
});
