import { describe, expect, it } from 'vitest';
import { sweepAgents } from '../../../../src/accounts/wallets/sweep-agents.ts';

/** Agents 1 to 5, two a page. */
function setUp(failing?: number) {
  const asked: number[] = [];
  const done: number[] = [];
  const worker = sweepAgents({
    name: 'walk',
    everyMs: 1_000,
    async find(after) {
      asked.push(after);
      const found = [1, 2, 3, 4, 5].filter((id) => id > after).slice(0, 2);
      return { found, nextAfter: found.length < 2 ? 0 : (found.at(-1) ?? 0) };
    },
    async act(id) {
      if (id === failing) throw new Error('cannot be helped');
      done.push(id);
    },
  });
  return { worker, asked, done };
}

describe('a walk through all agents', () => {
  it('a sweep of all agents takes one page a pass, and starts again after the last page', async () => {
    const { worker, asked, done } = setUp();
    for (let i = 0; i < 4; i++) await worker.tick();
    expect(asked).toEqual([0, 2, 4, 0]);
    expect(done).toEqual([1, 2, 3, 4, 5, 1, 2]);
  });

  it('a sweep of all agents skips an agent that fails, reports the failure, and returns to that agent later', async () => {
    const { worker, done } = setUp(1);
    await expect(worker.tick()).rejects.toThrow('cannot be helped');
    await worker.tick();
    await worker.tick();
    expect(done).toEqual([2, 3, 4, 5]);
    await expect(worker.tick()).rejects.toThrow('cannot be helped');
  });
});
