import { isObject, type Json } from '../../../kernel/json.ts';
import { cachedParts } from '../cached-parts.ts';
import type { TokenUsage } from '../chat-rail.ts';
import { tokenCount } from '../token-count.ts';

/** Reads the `usage` of a response. Null when it is missing or implausible. */
export function readResponseUsage(usage: unknown): TokenUsage | null {
  if (!isObject(usage)) return null;
  const inputTokens = tokenCount(usage.input_tokens);
  const written = tokenCount(usage.output_tokens);
  if (inputTokens === undefined || written === undefined) return null;
  const total = tokenCount(usage.total_tokens) ?? 0;
  const details = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const served = tokenCount(details.cached_tokens) ?? 0;
  return {
    inputTokens,
    ...cachedParts(inputTokens, served, tokenCount(details.cache_write_tokens)),
    outputTokens: Math.max(written, total - inputTokens),
  };
}

/** Returns the `usage` of a response. Tokens of hidden thoughts are part of the output tokens. */
export const responseUsage = (
  { cachedTokens, cacheWriteTokens: kept, inputTokens, outputTokens }: TokenUsage,
  reasoningTokens = 0,
): Json => ({
  input_tokens: inputTokens,
  input_tokens_details: {
    cached_tokens: cachedTokens,
    ...(kept !== undefined && { cache_write_tokens: kept }),
  },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: Math.min(reasoningTokens, outputTokens) },
  total_tokens: inputTokens + outputTokens,
});
