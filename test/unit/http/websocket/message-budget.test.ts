import { describe, expect, it } from 'vitest';
import { MessageBudget } from '../../../../src/http/websocket/message-budget.ts';
import { LIMITS } from '../../../../src/kernel/limits.ts';
import { ManualClock } from '../../../../src/kernel/manual-clock.ts';

const { socketBytes, socketBusyMs } = LIMITS;

describe('message budget', () => {
  it('takes a burst of bytes and then so many a second, and says which bound was passed', () => {
    const clock = new ManualClock();
    const budget = new MessageBudget(clock.monotonicMs());
    const arrived = (bytes: number) => budget.arrived(bytes, clock.monotonicMs());
    expect(arrived(socketBytes.burst)).toBeUndefined();
    clock.advance(1_000);
    expect(arrived(socketBytes.perSecond)).toBeUndefined();
    expect(arrived(1)).toBe('more than 16 MiB at once and 1 MiB a second');
  });

  it('counts the time that messages take, whatever their number', () => {
    const clock = new ManualClock();
    const budget = new MessageBudget(clock.monotonicMs());
    const busy = (ms: number) => {
      const startedMs = clock.monotonicMs();
      clock.advance(ms);
      return budget.handled(startedMs, clock.monotonicMs());
    };
    // Half a burst, and what flowed back meanwhile.
    expect(busy(socketBusyMs.burst / 2)).toBeUndefined();
    expect(busy(socketBusyMs.burst / 2)).toBeUndefined();
    expect(busy(socketBusyMs.burst / 2)).toBe(
      'messages take the server more than 100 ms a second to handle',
    );
  });

  it('never runs dry over what a session of sound needs', () => {
    const clock = new ManualClock();
    const budget = new MessageBudget(clock.monotonicMs());
    for (let frame = 0; frame < 50 * 60; frame++) {
      const startedMs = clock.monotonicMs();
      // 20 ms of two channels at 48 kHz, in base64.
      expect(budget.arrived(5_120, startedMs)).toBeUndefined();
      clock.advance(1);
      expect(budget.handled(startedMs, clock.monotonicMs())).toBeUndefined();
      clock.advance(19);
    }
  });
});
