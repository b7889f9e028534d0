import { describe, expect, it } from 'vitest';
import { AudioAllowance } from '../../../../src/voice/billing/audio-allowance.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

describe('AudioAllowance', () => {
  it('AudioAllowance lets two minutes of audio through at once, then audio in real time', () => {
    const clock = new ManualClock();
    const allowance = new AudioAllowance(clock.monotonicMs());
    const take = (ms: number) => allowance.take(ms, clock.monotonicMs());
    expect([take(120_000), take(1)]).toEqual([true, false]);
    clock.advance(5_000);
    expect([take(5_001), take(5_000)]).toEqual([false, true]);
  });

  it('AudioAllowance earns no credit during silence', () => {
    const clock = new ManualClock();
    const allowance = new AudioAllowance(clock.monotonicMs());
    clock.advance(3_600_000);
    const take = (ms: number) => allowance.take(ms, clock.monotonicMs());
    expect([take(120_001), take(120_000)]).toEqual([false, true]);
  });
});
