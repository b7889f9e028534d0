import { describe, expect, it } from 'vitest';
import { ENGINE_LIMITS } from '../../../../src/engines/limits.ts';
import { createRestartBackoff } from '../../../../src/engines/threads/restart-backoff.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

describe('restart rest', () => {
  it('the restart backoff has no delay after the first crash, then doubles its delay up to a limit', () => {
    const clock = new ManualClock();
    const rest = createRestartBackoff(clock);
    const breaker = Array.from({ length: 9 }, () => {
      rest.crashed();
      return rest.remainingMs();
    });
    const { restartMaxMs } = ENGINE_LIMITS.worker;
    expect(breaker).toEqual([0, 250, 500, 1_000, 2_000, 4_000, 8_000, restartMaxMs, restartMaxMs]);
    clock.advance(restartMaxMs);
    expect(rest.remainingMs()).toBe(0);
  });

  it('the restart backoff starts again once the worker has answered', () => {
    const rest = createRestartBackoff(new ManualClock());
    rest.crashed();
    expect(rest.crashed()).toBe(2);
    rest.answered();
    expect(rest.crashed()).toBe(1);
    expect(rest.remainingMs()).toBe(0);
  });
});
