import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Best } from '../../../../src/memory/index/best.ts';

const offers = fc.uniqueArray(
  fc.record({ id: fc.integer({ min: 1, max: 200 }), score: fc.integer({ min: -3, max: 3 }) }),
  { selector: ({ id }) => id, maxLength: 80 },
);

describe('the best of what is offered', () => {
  it('the best-results list keeps the highest scores in order, with equal scores ordered by lowest id', () => {
    fc.assert(
      fc.property(offers, fc.integer({ min: 1, max: 20 }), (all, size) => {
        const best = new Best(size);
        for (const { id, score } of all) best.offer(score, id);
        const sorted = [...all].sort((a, b) => b.score - a.score || a.id - b.id).slice(0, size);
        expect(best.sorted()).toEqual(sorted);
        const isFull = all.length >= size;
        expect(best.least).toBe(isFull ? sorted.at(-1)?.score : Number.NEGATIVE_INFINITY);
      }),
    );
  });
});
