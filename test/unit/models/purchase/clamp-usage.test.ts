import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../src/kernel/limits.ts';
import {
  clampTokens,
  clampUsage,
  isImpossible,
} from '../../../../src/models/purchase/clamp-usage.ts';

const AROUND = LIMITS.unaskedTokens;
const most = { inputTokens: 100, cachedTokens: 0, outputTokens: 50 };
const reported = { inputTokens: 100, cachedTokens: 0, outputTokens: 50 };

describe('what is believed of an upstream', () => {
  it('is its word, as far as the request can have come to that', () => {
    expect(clampUsage({ audio_second: 2 }, { audio_second: 2 })).toEqual({
      usage: { audio_second: 2 },
    });
    expect(clampUsage({ audio_second: 3 }, { audio_second: 2 })).toEqual({
      usage: { audio_second: 2 },
      reported: { usage: { audio_second: 3 }, isImpossible: false },
    });
    expect(clampUsage({ audio_second: 3_600 }, { audio_second: 2 }).reported?.isImpossible).toBe(
      true,
    );
  });

  it('leaves room for what vendors put around a prompt, and none for an answer', () => {
    expect(clampTokens({ ...reported, inputTokens: 100 + AROUND }, most)).toBeUndefined();
    expect(clampTokens({ ...reported, inputTokens: 101 + AROUND }, most)?.tokens).toEqual({
      ...reported,
      inputTokens: 100 + AROUND,
    });
    expect(clampTokens({ ...reported, outputTokens: 51 }, most)).toEqual({
      tokens: reported,
      isImpossible: false,
    });
  });

  it('keeps the parts of a prompt within it', () => {
    const lie = { cachedTokens: 9_000, cacheWriteTokens: 9_000, cacheWriteSurcharge: 9_000 };
    expect(clampTokens({ ...reported, ...lie, inputTokens: 9_000 }, most)?.tokens).toEqual({
      inputTokens: 100 + AROUND,
      cachedTokens: 100 + AROUND,
      outputTokens: 50,
      cacheWriteSurcharge: 0,
    });
  });

  it('is not impossible for being counted otherwise', () => {
    const { times, units } = LIMITS.impossibleUse;
    expect(isImpossible(times * 50 + units, 50)).toBe(false);
    expect(isImpossible(times * 50 + units + 1, 50)).toBe(true);
  });
});
