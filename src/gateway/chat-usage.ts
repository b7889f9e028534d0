import type { Usage } from '../kernel/price.ts';
import { priceRaw } from '../kernel/price.ts';
import type { ChatCompletion, TokenUsage } from '../rails/chat-rail.ts';
import type { Source } from './catalogue.ts';
import type { Metered } from './charge-row.ts';
import type { ChatRequest } from './chat-request.ts';
import { estimatePrompt, tokensOf } from './estimate-chat.ts';

/**
 * Puts tokens into the units that a source bills. Cached tokens are part of the prompt; a source without
 * a rate of their own bills them as any other prompt token. What is written to a cache is billed as more of them.
 */
export function chatUsage(tokens: TokenUsage, { rates }: Source): Usage {
  const cached = rates.cached_input_token === undefined ? 0 : tokens.cachedTokens;
  return {
    text_input_token: tokens.inputTokens - cached + (tokens.cacheWriteSurcharge ?? 0),
    text_output_token: tokens.outputTokens,
    ...(cached === 0 ? {} : { cached_input_token: cached }),
    ...(rates.request === undefined ? {} : { request: 1 }),
  };
}

/** What `tokens` cost at `source`, margin included. */
export const chatPriceRaw = (tokens: TokenUsage, source: Source): bigint =>
  priceRaw(chatUsage(tokens, source), source.rates, source.marginBps);

/** What an answer used: by its upstream's word, or by the length of what was sent and of what came back. */
export function meterChat(
  request: ChatRequest,
  { usage, answerChars }: Pick<ChatCompletion, 'usage' | 'answerChars'>,
  source: Source,
): Metered {
  const tokens = usage ?? {
    ...{ inputTokens: estimatePrompt(request), cachedTokens: 0 },
    outputTokens: tokensOf(answerChars),
  };
  return { usage: chatUsage(tokens, source), estimated: usage === null };
}
