import { describe, expect, it } from 'vitest';
import { fuse } from '../../../../src/memory/search/fuse.ts';

const ranked = (...ids: number[]) => ids.map((id, n) => ({ id, score: 1 / (n + 1) }));

describe('rankings', () => {
  it('that are joined put first what both have in front', () => {
    const joined = fuse([ranked(1, 2, 3), ranked(2, 1, 4)]);
    expect(joined.map(({ id }) => id)).toEqual([2, 1, 4, 3]);
    expect(fuse([ranked(5, 6), ranked(5)])[0]?.score).toBeCloseTo(1);
  });

  it('of which there is one keep their scores, and none is nothing', () => {
    expect(fuse([ranked(3, 1)])).toEqual(ranked(3, 1));
    expect(fuse([])).toEqual([]);
  });
});
