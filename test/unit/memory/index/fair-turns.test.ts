import { describe, expect, it } from 'vitest';
import { createFairTurns } from '../../../../src/memory/index/fair-turns.ts';

/** Turns that this test takes by itself. */
function heldTurns() {
  const due: (() => void)[] = [];
  const turns = createFairTurns((callback) => due.push(callback));
  const log: string[] = [];
  return {
    log,
    turn: (count = 1) => {
      for (let i = 0; i < count; i++) due.shift()?.();
    },
    get isIdle() {
      return due.length === 0;
    },
    run: (space: number, name: string, steps: number) =>
      turns.run(space, function* () {
        for (let step = 1; step < steps; step++) {
          log.push(name);
          yield;
        }
        log.push(name);
        return name;
      }),
    fail: (space: number) =>
      // biome-ignore lint/correctness/useYield: it fails before it gets so far.
      turns.run(space, function* () {
        throw new Error('broke');
      }),
  };
}

describe('turns of spaces', () => {
  it('a short search waits for at most one step of each long search under way', async () => {
    const world = heldTurns();
    for (let space = 1; space <= 50; space++) void world.run(space, `long ${space}`, 1_000);
    world.turn(75);
    let done = false;
    void world.run(99, 'short', 1).then(() => {
      done = true;
    });
    world.turn(2);
    await Promise.resolve();
    expect(done).toBe(true);
  });

  it('a space with repeated short searches gets no more turns than a space with one long search', () => {
    const world = heldTurns();
    void world.run(1, 'long', 1_000);
    const again = () => void world.run(2, 'short', 1);
    for (let i = 0; i < 100; i++) {
      again();
      world.turn(2);
    }
    const long = world.log.filter((name) => name === 'long').length;
    expect(long).toBeGreaterThanOrEqual(95);
  });

  it('the searches of one space run to their end in the order of their arrival', async () => {
    const world = heldTurns();
    const asked = ['a', 'b', 'c'].map((name) => world.run(7, name, 3));
    world.turn(9);
    expect(await Promise.all(asked)).toEqual(['a', 'b', 'c']);
    expect(world.log.join('')).toBe('aaabbbccc');
  });

  it('the fair turns continue after a search that fails, and are idle without work', async () => {
    const world = heldTurns();
    const failed = world.fail(1);
    const next = world.run(1, 'next', 1);
    failed.catch(() => {});
    world.turn(3);
    await expect(failed).rejects.toThrow('broke');
    expect(await next).toBe('next');
    expect(world.isIdle).toBe(true);
  });
});
