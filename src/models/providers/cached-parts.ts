import type { TokenUsage } from './chat-rail.ts';

/**
 * Returns the prompt tokens read from and written to the upstream's cache. Both are parts of the prompt and no token is in
 * both, so a larger claim of the upstream is cut.
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
