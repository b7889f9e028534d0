import { describe, expect, it } from 'vitest';
import { MessageLine } from '../../../../src/http/websocket/message-line.ts';
import { LIMITS } from '../../../../src/kernel/limits.ts';
import { ManualClock } from '../../../../src/kernel/manual-clock.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the messages of all sockets', () => {
  it('are handled at once while they take little, and in their order over turns where they take much', async () => {
    const clock = new ManualClock();
    const line = new MessageLine(clock);
    expect(line.hasTime).toBe(true);
    line.used(LIMITS.socketMsPerTurn - 1);
    expect(line.hasTime).toBe(true);
    line.used(1);
    expect(line.hasTime).toBe(false);
    const done: number[] = [];
    for (let i = 0; i < 4; i++) {
      line.later(() => {
        done.push(i);
        clock.advance(LIMITS.socketMsPerTurn / 2);
      });
    }
    await turn();
    expect(done).toEqual([0, 1]);
    expect(line.hasTime).toBe(false);
    await turn();
    expect(done).toEqual([0, 1, 2, 3]);
    expect(line.hasTime).toBe(true);
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
