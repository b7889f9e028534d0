import { isObject, type Json } from '../../kernel/json.ts';
import type { TokenUsage } from '../chat-rail.ts';
import { tokenCount } from '../read-completion.ts';

/**
 * Reads the `usage` of a message, or nothing when it is absent or makes no sense. The dialect counts what
 * was read from and written to its cache apart from the input; here a prompt is all three.
 */
export function readMessageUsage(usage: unknown): TokenUsage | null {
  if (!isObject(usage)) return null;
  const fresh = tokenCount(usage.input_tokens);
  const outputTokens = tokenCount(usage.output_tokens);
  const cachedTokens = tokenCount(usage.cache_read_input_tokens ?? 0);
  const written = tokenCount(usage.cache_creation_input_tokens ?? 0);
  if (fresh === undefined || outputTokens === undefined) return null;
  if (cachedTokens === undefined || written === undefined) return null;
  const inputTokens = fresh + cachedTokens + written;
  return Number.isSafeInteger(inputTokens + outputTokens)
    ? { inputTokens, cachedTokens, outputTokens }
    : null;
}

/** The same counts as the `usage` of an OpenAI completion. */
export const completionUsage = ({ inputTokens, cachedTokens, outputTokens }: TokenUsage): Json => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: cachedTokens },
});
