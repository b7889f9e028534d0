import { describe, expect, it } from 'vitest';
import { sleep } from '../../../src/kernel/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('ManualClock', () => {
  it('ManualClock fires timers in due order, each at its own instant, and never early', () => {
    const clock = new ManualClock(0);
    const seen: string[] = [];
    clock.setTimeout(() => seen.push(`b@${clock.now()}`), 20);
    clock.setTimeout(() => seen.push(`a@${clock.now()}`), 10);
    const cancelled = clock.setTimeout(() => seen.push('never'), 15);
    clock.clearTimeout(cancelled);
    clock.advance(9);
    expect(seen).toEqual([]);
    clock.advance(11);
    expect(seen).toEqual(['a@10', 'b@20']);
  });

  it('ManualClock wakes a sleeper at its time or on abort', async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const timed = sleep(clock, 1_000);
    const stopped = sleep(clock, 1_000_000, stop.signal);
    clock.advance(1_000);
    stop.abort();
    await expect(Promise.all([timed, stopped])).resolves.toBeDefined();
  });
});
