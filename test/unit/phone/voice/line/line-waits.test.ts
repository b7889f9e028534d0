import { expect, it } from 'vitest';
import { LineWaits } from '../../../../../src/phone/voice/line/line-waits.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { settleAll } from '../../../../support/voice-world.ts';

it('a sender that waits for the line goes on once: after its time, when its signal fires, or when all are woken', async () => {
  const clock = new ManualClock();
  const waits = new LineWaits(clock);
  const stop = new AbortController();
  const woken: string[] = [];
  const sleep = (name: string, ms: number, signal = new AbortController().signal) =>
    void waits.sleep(ms, signal).then(() => woken.push(name));
  sleep('timed', 100);
  sleep('stopped', 1_000, stop.signal);
  sleep('woken', 1_000);
  clock.advance(99);
  await settleAll();
  expect(woken).toEqual([]);
  clock.advance(1);
  stop.abort();
  await settleAll();
  expect(woken.sort()).toEqual(['stopped', 'timed']);
  waits.wake();
  waits.wake();
  clock.advance(2_000);
  await settleAll();
  expect(woken).toHaveLength(3);
});
