import { describe, expect, it } from 'vitest';
import { EventAllowance } from '../../../../src/voice/live/event-allowance.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

describe('EventAllowance', () => {
  it('EventAllowance lets a burst of events through, then a steady rate, and recovers with time', () => {
    const clock = new ManualClock();
    const allowance = new EventAllowance(clock.monotonicMs());
    const taken = (count: number) =>
      Array.from({ length: count }, () => allowance.take(clock.monotonicMs())).filter(Boolean)
        .length;
    expect(taken(3_000)).toBe(2_000);
    clock.advance(1_000);
    expect(taken(3_000)).toBe(200);
    clock.advance(3_600_000);
    expect(taken(3_000)).toBe(2_000);
  });
});
