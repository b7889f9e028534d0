import { describe, expect, it } from 'vitest';
import { fuse } from '../../../../src/memory/search/fuse.ts';

const ranked = (...ids: number[]) => ids.map((id, n) => ({ id, score: 1 / (n + 1) }));

describe('rankings', () => {
  it('fused rankings put first the results that both rankings have in front', () => {
    const joined = fuse([ranked(1, 2, 3), ranked(2, 1, 4)]);
    expect(joined.map(({ id }) => id)).toEqual([2, 1, 4, 3]);
    expect(fuse([ranked(5, 6), ranked(5)])[0]?.score).toBeCloseTo(1);
  });

  it('fusing a single ranking keeps its scores, and fusing none gives no results', () => {
    expect(fuse([ranked(3, 1)])).toEqual(ranked(3, 1));
    expect(fuse([])).toEqual([]);
  });
});
