import { describe, expect, it } from 'vitest';
import { MessageLine } from '../../../../src/http/websocket/message-line.ts';
import { LIMITS } from '../../../../src/kernel/limits.ts';
import { ManualClock } from '../../../../src/kernel/manual-clock.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the messages of all sockets', () => {
  it('are handled at once while they take little, and in their order over turns where they take much', async () => {
    const clock = new ManualClock();
    const line = new MessageLine(clock);
    const work = (ms: number) => {
      const startedMs = clock.monotonicMs();
      clock.advance(ms);
      line.used(startedMs, clock.monotonicMs());
    };
    const hasTime = () => line.hasTime(clock.monotonicMs());
    expect(hasTime()).toBe(true);
    work(LIMITS.socketMsPerTurn - 1);
    expect(hasTime()).toBe(true);
    work(1);
    expect(hasTime()).toBe(false);
    const done: number[] = [];
    for (let i = 0; i < 4; i++) {
      line.later(() => {
        done.push(i);
        work(LIMITS.socketMsPerTurn / 2);
      });
    }
    await turn();
    expect(done).toEqual([0, 1]);
    expect(hasTime()).toBe(false);
    await turn();
    expect(done).toEqual([0, 1, 2, 3]);
    expect(hasTime()).toBe(false);
    clock.advance(1);
    expect(hasTime()).toBe(true);
  });

  it('have a whole turn again after a rest, and none where they follow each other closely', () => {
    const line = new MessageLine(new ManualClock());
    const step = LIMITS.socketMsPerTurn / 10;
    for (const [restMs, isHandled] of [
      [0.1, false],
      [1, true],
    ] as const) {
      let nowMs = 1_000;
      let isLast = true;
      for (let message = 0; message < 12; message++) {
        nowMs += restMs;
        isLast = line.hasTime(nowMs);
        if (isLast) line.used(nowMs, nowMs + step);
        nowMs += isLast ? step : 0;
      }
      expect(isLast, `${restMs} ms`).toBe(isHandled);
    }
  });

  it('wait as copies that no later message changes, more of them than its memory holds too', async () => {
    const line = new MessageLine(new ManualClock());
    const heard: string[] = [];
    const sent: string[] = [];
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 40; i++) {
        const text = `${round}/${i} `.repeat(1 + ((i * 419) % 4_000));
        const message = new TextEncoder().encode(text);
        const kept = line.keep(message.buffer);
        message.fill(0);
        sent.push(text);
        line.later(() => heard.push(Buffer.from(kept).toString()));
      }
      await turn();
    }
    expect(heard).toEqual(sent);
    expect(sent.slice(0, 40).join('').length).toBeGreaterThan(256 * 1_024);
  });
});
