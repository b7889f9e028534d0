import { describe, expect, it } from 'vitest';
import { BLOCK_BYTES, GROUP_ROWS, layoutOf } from '../../../../src/memory/index/block-layout.ts';
import { MEMORY_LIMITS } from '../../../../src/memory/limits.ts';

describe('the layout of blocks', () => {
  it('the block layout has whole row groups and aligned sections without overlap for every number of dimensions', () => {
    const everyDims = Array.from({ length: MEMORY_LIMITS.index.dims }, (_, i) => i + 1);
    const wrong = everyDims.filter((dims) => {
      const blocks = 2 ** (dims % 6);
      const { errorsAt, exactAt, idsAt, rows, scalesAt, stride, tagsAt } = layoutOf(dims, blocks);
      const sizes = [errorsAt - scalesAt, idsAt - errorsAt, tagsAt - idsAt, exactAt - tagsAt];
      return !(
        stride >= dims &&
        rows >= GROUP_ROWS * blocks &&
        rows % GROUP_ROWS === 0 &&
        scalesAt === rows * stride &&
        [4, 4, 8, 4].every((bytes, i) => sizes[i] === rows * bytes) &&
        exactAt + rows * stride * 4 <= blocks * BLOCK_BYTES &&
        exactAt % 16 === 0 &&
        idsAt % 8 === 0 &&
        scalesAt % 16 === 0
      );
    });
    expect(wrong).toEqual([]);
  });

  it('the block layout uses over 90 % of a block for the dimensions of common embedding models', () => {
    for (const dims of [384, 512, 768, 1_024, 1_536, 3_072]) {
      const { rows } = layoutOf(dims);
      expect((rows * (5 * dims + 20)) / BLOCK_BYTES).toBeGreaterThan(0.9);
    }
  });
});
