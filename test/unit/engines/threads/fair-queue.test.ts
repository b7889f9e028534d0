import { describe, expect, it } from 'vitest';
import { EngineBusy } from '../../../../src/engines/engine.ts';
import { createFairQueue } from '../../../../src/engines/threads/fair-queue.ts';

const BOUNDS = { atOnce: 1, waiting: 100, waitingPerUser: 50 };
const soon = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the line before an engine', () => {
  it('an engine’s queue serves its users in turn, however many requests one of them has', async () => {
    const line = createFairQueue(BOUNDS);
    const done: string[] = [];
    const ask = (user: number | undefined, what: string) =>
      line.run(user, async () => {
        await soon();
        done.push(what);
      });
    const greedy = Array.from({ length: 20 }, (_, i) => ask(1, `a${i}`));
    await soon();
    await Promise.all([ask(2, 'b0'), ask(2, 'b1'), ask(undefined, 'server')]);
    const at = (what: string) => done.indexOf(what);
    expect(at('b0')).toBeLessThanOrEqual(3);
    expect(at('server')).toBeLessThanOrEqual(4);
    expect(at('b1')).toBeLessThanOrEqual(6);
    await Promise.all(greedy);
    expect(done.filter((what) => what.startsWith('a'))).toEqual(greedy.map((_, i) => `a${i}`));
  });

  it('an engine’s queue runs one user’s requests up to that user’s limit at once, and other users’ requests beside them', async () => {
    const line = createFairQueue({ ...BOUNDS, atOnce: 3, atOncePerUser: 1 });
    const underWay = new Map<number, number>();
    let most = 0;
    const done: number[] = [];
    const work = (user: number) => async () => {
      underWay.set(user, (underWay.get(user) ?? 0) + 1);
      most = Math.max(most, ...underWay.values());
      await soon();
      underWay.set(user, (underWay.get(user) ?? 0) - 1);
      done.push(user);
    };
    const users = [1, 1, 1, 1, 1, 2, 3];
    await Promise.all(users.map((user) => line.run(user, work(user))));
    expect(most).toBe(1);
    expect(done.slice(0, 3).toSorted()).toEqual([1, 2, 3]);
    expect(done).toHaveLength(users.length);
  });

  it('an engine’s queue runs as many requests at once as its limit allows, and goes on after a failed request', async () => {
    const line = createFairQueue({ ...BOUNDS, atOnce: 2 });
    let underWay = 0;
    let most = 0;
    const work = (fails: boolean) => async () => {
      most = Math.max(most, ++underWay);
      await soon();
      underWay--;
      if (fails) throw new Error('broke');
      return 'done';
    };
    const asked = [true, false, true, false, false].map((fails, i) => line.run(i % 2, work(fails)));
    const told = await Promise.allSettled(asked);
    expect(told.map(({ status }) => status === 'fulfilled')).toEqual([
      false,
      true,
      false,
      true,
      true,
    ]);
    expect(most).toBe(2);
  });

  it('an engine’s queue refuses requests beyond its limits, per user and in total', async () => {
    const line = createFairQueue({ atOnce: 1, waiting: 3, waitingPerUser: 2 });
    let finish = () => {};
    const first = line.run(1, () => new Promise<void>((resolve) => (finish = resolve)));
    const nothing = async () => {};
    const own = [line.run(1, nothing), line.run(1, nothing)];
    await expect(line.run(1, nothing)).rejects.toBeInstanceOf(EngineBusy);
    const other = line.run(2, nothing);
    await expect(line.run(3, nothing)).rejects.toBeInstanceOf(EngineBusy);
    finish();
    await Promise.all([first, ...own, other]);
    await line.run(1, nothing);
  });
});
