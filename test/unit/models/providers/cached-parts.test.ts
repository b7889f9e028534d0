import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cachedParts } from '../../../../src/models/providers/cached-parts.ts';

it('the cached and cache-written tokens never exceed the prompt tokens, whatever the upstream reports', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.nat(),
      fc.option(fc.nat(), { nil: undefined }),
      (all, served, kept) => {
        const { cachedTokens, cacheWriteTokens = 0 } = cachedParts(all, served, kept);
        expect(cachedTokens + cacheWriteTokens).toBeLessThanOrEqual(all);
        expect(cachedTokens).toBe(Math.min(served, all));
        if (served + (kept ?? 0) <= all) expect(cacheWriteTokens).toBe(kept ?? 0);
      },
    ),
  );
});
