import { describe, expect, it } from 'vitest';
import { Arena } from '../../../../src/memory/index/arena.ts';
import { BLOCK_BYTES } from '../../../../src/memory/index/block-layout.ts';

describe('the memory of the index', () => {
  it('the arena of the memory index hands out consecutive blocks, or fewer when there is no longer run', () => {
    const arena = new Arena(8 * BLOCK_BYTES);
    expect(arena.reserve(1)).toBe(true);
    const [a, b, c] = [arena.take(2), arena.take(2), arena.take(2)];
    expect([a, b, c].map(({ blocks }) => blocks)).toEqual([2, 2, 2]);
    arena.give(b);
    expect(arena.take(4).blocks).toBe(2);
    expect(arena.take(4).blocks).toBe(2);
    expect(arena.bytes).toBe(8 * BLOCK_BYTES);
    expect(arena.reserve(1)).toBe(false);
    expect(() => arena.take(1)).toThrow('reserved');
  });

  it('the arena of the memory index hands out each block once, never the scratch block, and zeroes returned blocks', () => {
    const arena = new Arena(600 * BLOCK_BYTES);
    const runs = [];
    for (let size = 1; arena.reserve(1); size = size === 32 ? 1 : 2 * size)
      runs.push(arena.take(size));
    const blocks = runs.flatMap(({ address, blocks: count }) =>
      Array.from({ length: count }, (_, i) => address / BLOCK_BYTES + i),
    );
    expect(new Set(blocks).size).toBe(600);
    expect(Math.min(...blocks)).toBe(1);
    arena.u8.fill(7, BLOCK_BYTES);
    for (const run of runs) arena.give(run);
    expect(arena.bytes).toBe(0);
    expect(Buffer.from(arena.u8.buffer).equals(Buffer.alloc(601 * BLOCK_BYTES))).toBe(true);
  });
});
