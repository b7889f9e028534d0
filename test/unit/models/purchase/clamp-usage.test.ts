import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import {
  clampTokens,
  clampUsage,
  isImpossible,
} from '../../../../src/models/purchase/clamp-usage.ts';

const AROUND = MODEL_LIMITS.usage.unaskedTokens;
const most = { inputTokens: 100, cachedTokens: 0, outputTokens: 50 };
const reported = { inputTokens: 100, cachedTokens: 0, outputTokens: 50 };

describe('what is believed of an upstream', () => {
  it('reported usage is limited to what the request can use, and an impossible report is marked', () => {
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

  it('reported prompt tokens may exceed the bound by the vendor’s framing, and output tokens may not', () => {
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

  it('reported cached and cache-written tokens are limited to the prompt tokens', () => {
    const lie = { cachedTokens: 9_000, cacheWriteTokens: 9_000, cacheWriteSurcharge: 9_000 };
    expect(clampTokens({ ...reported, ...lie, inputTokens: 9_000 }, most)?.tokens).toEqual({
      inputTokens: 100 + AROUND,
      cachedTokens: 100 + AROUND,
      outputTokens: 50,
      cacheWriteSurcharge: 0,
    });
  });

  it('reported usage slightly above the bound is not impossible', () => {
    const { times, units } = MODEL_LIMITS.usage.impossible;
    expect(isImpossible(times * 50 + units, 50)).toBe(false);
    expect(isImpossible(times * 50 + units + 1, 50)).toBe(true);
  });
});
