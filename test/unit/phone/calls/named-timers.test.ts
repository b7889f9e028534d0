import { expect, it } from 'vitest';
import { NamedTimers } from '../../../../src/phone/calls/named-timers.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

it('a named timer that is set again replaces the earlier one, and no timer fires after close', () => {
  const clock = new ManualClock();
  const timers = new NamedTimers(clock);
  const fired: string[] = [];
  timers.after('a', 10, () => fired.push('first'));
  timers.after('a', 20, () => fired.push('second'));
  timers.after('b', 15, () => fired.push('cancelled'));
  timers.cancel('b');
  timers.repeat('c', 10, () => fired.push('c'));
  clock.advance(25);
  expect(fired).toEqual(['c', 'second', 'c']);
  timers.close();
  timers.after('d', 1, () => fired.push('late'));
  clock.advance(100);
  expect(fired).toHaveLength(3);
});
