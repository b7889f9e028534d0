import type { TokenUsage } from '../../providers/chat-rail.ts';

/** The counts of a chat as the `usage` of a message, where the input is what neither came from a cache nor went to one. */
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
