import { describe, expect, it } from 'vitest';
import { HTTP_LIMITS } from '../../../../src/http/limits.ts';
import { MESSAGE_LIMITS } from '../../../../src/platform/messages/limits.ts';
import { MessageBudget } from '../../../../src/platform/messages/message-budget.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const { links: linkRates } = MESSAGE_LIMITS;
const { rates: socketRates } = HTTP_LIMITS.socket;
const { bytes, busyMs } = socketRates;

describe('a message budget', () => {
  it('a message budget allows a burst of bytes at once, then a steady number of bytes a second', () => {
    const clock = new ManualClock();
    const budget = new MessageBudget(clock.monotonicMs(), socketRates);
    const arrived = (count: number) => budget.arrived(count, clock.monotonicMs());
    expect(arrived(bytes.burst)).toBe(true);
    clock.advance(1_000);
    expect(arrived(bytes.perSecond)).toBe(true);
    expect(arrived(1)).toBe(false);
  });

  it('a message budget counts at least 256 bytes a message, so that 65,536 messages of two bytes are the burst', () => {
    const clock = new ManualClock();
    const budget = new MessageBudget(clock.monotonicMs(), socketRates);
    let taken = 0;
    while (budget.arrived(2, clock.monotonicMs())) taken++;
    expect(taken).toBe(65_536);
    clock.advance(1_000);
    let later = 0;
    while (budget.arrived(2, clock.monotonicMs())) later++;
    // One message went into debt.
    expect(later).toBe(4_095);
  });

  it('a message budget counts the time that messages take, whatever their number', () => {
    const clock = new ManualClock();
    const budget = new MessageBudget(clock.monotonicMs(), socketRates);
    const busy = (ms: number) => {
      const startedMs = clock.monotonicMs();
      clock.advance(ms);
      return budget.handled(startedMs, clock.monotonicMs());
    };
    // Half a burst, and what flowed back meanwhile.
    expect(busy(busyMs.burst / 2)).toBe(true);
    expect(busy(busyMs.burst / 2)).toBe(true);
    expect(busy(busyMs.burst / 2)).toBe(false);
  });

  it('a message budget tells how long it takes until a debt of bytes and a debt of time are paid back', () => {
    const clock = new ManualClock();
    const budget = new MessageBudget(clock.monotonicMs(), linkRates);
    const { burst, perSecond } = linkRates.bytes;
    expect(budget.debtMs).toBe(0);
    expect(budget.spend(burst + perSecond / 2, clock.monotonicMs(), clock.monotonicMs())).toBe(
      false,
    );
    expect(budget.debtMs).toBe(500);
    const startedMs = clock.monotonicMs();
    clock.advance(500);
    // Half a second is 400 ms more than the burst of time.
    expect(budget.spend(0, startedMs, clock.monotonicMs())).toBe(false);
    expect(budget.debtMs).toBe(4_000);
  });

  it('a message budget never runs dry at 120 audio messages a second', () => {
    const clock = new ManualClock();
    const budget = new MessageBudget(clock.monotonicMs(), socketRates);
    for (let frame = 0; frame < 120 * 60; frame++) {
      const startedMs = clock.monotonicMs();
      // 20 ms of two channels at 48 kHz, in base64.
      expect(budget.arrived(5_120, startedMs)).toBe(true);
      clock.advance(0.5);
      expect(budget.handled(startedMs, clock.monotonicMs())).toBe(true);
      clock.advance(1_000 / 120 - 0.5);
    }
  });
});
