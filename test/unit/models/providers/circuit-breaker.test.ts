import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../src/kernel/limits.ts';
import { ManualClock } from '../../../../src/kernel/manual-clock.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';

const { min, max } = LIMITS.sourceRestMs;

function world() {
  const clock = new ManualClock();
  const breaker = createSourceRests({ clock });
  const failTimes = (times: number) => {
    for (let i = 0; i < times; i++) breaker.failed('a');
  };
  return { clock, breaker, failTimes };
}

describe('a source that keeps failing', () => {
  it('is left alone after so many failures in a row, and others are not', () => {
    const { breaker, failTimes } = world();
    failTimes(LIMITS.restAfterFailures - 1);
    expect(breaker.admits('a')).toBe(true);
    failTimes(1);
    expect(breaker.admits('a')).toBe(false);
    expect(breaker.admits('b')).toBe(true);
  });

  it('starts anew with every answer', () => {
    const { breaker, failTimes } = world();
    failTimes(LIMITS.restAfterFailures - 1);
    breaker.answered('a');
    failTimes(LIMITS.restAfterFailures - 1);
    expect(breaker.admits('a')).toBe(true);
  });

  it('is probed by one caller at a time after its rest, and is back after one answer', () => {
    const { clock, breaker, failTimes } = world();
    failTimes(LIMITS.restAfterFailures);
    clock.advance(min - 1);
    expect(breaker.admits('a')).toBe(false);
    clock.advance(1);
    expect(breaker.admits('a')).toBe(true);
    expect(breaker.admits('a')).toBe(false);
    breaker.answered('a');
    expect(breaker.admits('a')).toBe(true);
    expect(breaker.admits('a')).toBe(true);
  });

  it('rests twice as long after each failed probe, up to a bound', () => {
    const { clock, breaker, failTimes } = world();
    failTimes(LIMITS.restAfterFailures);
    for (let restMs = min; restMs < max * 4; restMs *= 2) {
      const expected = Math.min(restMs, max);
      clock.advance(expected - 1);
      expect(breaker.admits('a')).toBe(false);
      clock.advance(1);
      expect(breaker.admits('a')).toBe(true);
      breaker.failed('a');
    }
  });

  it('is probed again when a probe ended without an answer', () => {
    const { clock, breaker, failTimes } = world();
    failTimes(LIMITS.restAfterFailures);
    clock.advance(min);
    expect(breaker.admits('a')).toBe(true);
    breaker.abandoned('a');
    expect(breaker.admits('a')).toBe(true);
  });

  it('does not rest longer for requests that were in flight when its rest began', () => {
    const { clock, breaker, failTimes } = world();
    failTimes(LIMITS.restAfterFailures + 20);
    clock.advance(min);
    expect(breaker.admits('a')).toBe(true);
  });
});
