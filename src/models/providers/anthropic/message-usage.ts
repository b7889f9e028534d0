import { isObject, type Json } from '../../../kernel/json.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import type { TokenUsage } from '../chat-rail.ts';
import { tokenCount } from '../token-count.ts';

/**
 * Reads the `usage` of a message; null when it is absent or not plausible. The dialect counts tokens read from and written to
 * its cache apart from the input. Here the prompt is the sum of the three counts, and the surcharge for writing stands beside
 * it.
 */
export function readMessageUsage(usage: unknown): TokenUsage | null {
  if (!isObject(usage)) return null;
  const fresh = tokenCount(usage.input_tokens);
  const outputTokens = tokenCount(usage.output_tokens);
  const cachedTokens = tokenCount(usage.cache_read_input_tokens ?? 0);
  const written = tokenCount(usage.cache_creation_input_tokens ?? sumOf(usage.cache_creation));
  if (fresh === undefined || outputTokens === undefined) return null;
  if (cachedTokens === undefined || written === undefined) return null;
  const inputTokens = fresh + cachedTokens + written;
  const surcharge = surchargeOf(written, usage.cache_creation);
  if (!Number.isSafeInteger(inputTokens + outputTokens + Math.ceil(surcharge))) return null;
  return {
    inputTokens,
    cachedTokens,
    outputTokens,
    ...(written > 0 && { cacheWriteTokens: written, cacheWriteSurcharge: surcharge }),
  };
}

/** Sums the cache writes of each kind, for an upstream that reports no total. */
function sumOf(kinds: unknown): unknown {
  if (!isObject(kinds)) return 0;
  const counts = [kinds.ephemeral_5m_input_tokens, kinds.ephemeral_1h_input_tokens];
  return counts.reduce<number>((sum, count) => sum + (tokenCount(count) ?? 0), 0);
}

/** Surcharge of the cache writes, in prompt tokens. A write for an hour costs more than one for some minutes. */
function surchargeOf(written: number, kinds: unknown): number {
  const { shortPercent, hourPercent } = MODEL_LIMITS.tokens.cacheWriteSurcharge;
  const said = isObject(kinds) ? (tokenCount(kinds.ephemeral_1h_input_tokens) ?? 0) : 0;
  const forAnHour = Math.min(said, written);
  return ((written - forAnHour) * shortPercent + forAnHour * hourPercent) / 100;
}

/** Returns the token counts as the `usage` of an OpenAI completion. */
export const completionUsage = (usage: TokenUsage): Json => {
  const { inputTokens, cachedTokens, outputTokens, cacheWriteTokens: written } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: {
      cached_tokens: cachedTokens,
      ...(written !== undefined && { cache_write_tokens: written }),
    },
  };
};
