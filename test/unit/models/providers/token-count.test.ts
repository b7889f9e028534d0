import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { tokenCount } from '../../../../src/models/providers/token-count.ts';

describe('a number of tokens', () => {
  it.each([0, 1, MODEL_LIMITS.usage.tokens])(
    'a token count is read as the upstream reports it: %j',
    (told) => {
      expect(tokenCount(told)).toBe(told);
    },
  );

  it.each([
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '7',
    null,
    undefined,
    [7],
    {},
    MODEL_LIMITS.usage.tokens + 1,
    Number.MAX_SAFE_INTEGER,
    1e308,
  ])('an invalid or implausible token count is ignored: %j', (told) => {
    expect(tokenCount(told)).toBeUndefined();
  });
});
