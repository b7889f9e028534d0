import type { TokenUsage } from '../../providers/chat-rail.ts';

/**
 * Returns the counts of a chat as the `usage` of a message. Its input excludes tokens that were read from or written to a
 * cache.
 */
export function messageUsage({
  cachedTokens,
  cacheWriteTokens: written = 0,
  inputTokens,
  outputTokens,
}: TokenUsage) {
  const kept = Math.min(written, inputTokens - cachedTokens);
  return {
    input_tokens: inputTokens - cachedTokens - kept,
    cache_creation_input_tokens: kept,
    cache_read_input_tokens: cachedTokens,
    output_tokens: outputTokens,
  };
}
