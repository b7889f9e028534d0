import type { TokenUsage } from './chat-rail.ts';

/**
 * What of a prompt an upstream says that its cache served and kept. Both are parts of the prompt and no token is in both, so what
 * an upstream claims beyond that is left out.
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
