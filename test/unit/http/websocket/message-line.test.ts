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
});
