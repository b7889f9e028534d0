import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spreadWords } from '../../../../src/engines/asr/spread-words.ts';

describe('spreadWords', () => {
  it('spreadWords gives each word time by its number of letters', () => {
    expect(spreadWords(' to  understand ', 1_000, 2_200)).toEqual([
      { word: 'to', startMs: 1_000, endMs: 1_200 },
      { word: 'understand', startMs: 1_200, endMs: 2_200 },
    ]);
    expect(spreadWords('', 0, 1_000)).toEqual([]);
  });

  it('spreadWords fills the time from beginning to end without a gap', () => {
    const text = fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 1 });
    fc.assert(
      fc.property(text, fc.nat(10_000), fc.nat(10_000), (words, startMs, lengthMs) => {
        const spread = spreadWords(words.join(' '), startMs, startMs + lengthMs);
        expect(spread.map(({ word }) => word)).toEqual(words);
        expect([spread[0]?.startMs, spread.at(-1)?.endMs]).toEqual([startMs, startMs + lengthMs]);
        for (const [i, { endMs }] of spread.entries()) {
          expect(spread[i + 1]?.startMs ?? endMs).toBe(endMs);
        }
      }),
    );
  });
});
