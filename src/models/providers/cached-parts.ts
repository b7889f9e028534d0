import type { TokenUsage } from './chat-rail.ts';

/**
 * Returns the prompt tokens read from and written to the upstream's cache. Each token of the prompt counts in at most one of
 * the two, so larger counts of the upstream are cut.
 */
export function cachedParts(
  inputTokens: number,
  served: number,
  written = 0,
): Pick<TokenUsage, 'cachedTokens' | 'cacheWriteTokens'> {
  const cachedTokens = Math.min(served, inputTokens);
  const cacheWriteTokens = Math.min(written, inputTokens - cachedTokens);
  return { cachedTokens, ...(cacheWriteTokens > 0 && { cacheWriteTokens }) };
}
