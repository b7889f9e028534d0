import { priceRaw, type Rates, toMillis, type Unit, type Usage } from '../../kernel/price.ts';
import type { Source } from '../catalogue/catalogue.ts';
import type { ChatCompletion, Reported, TokenUsage } from '../providers/chat-rail.ts';
import { clampTokens, type ImplausibleUsage, type Metered } from '../purchase/clamp-usage.ts';
import type { ChatRequest } from './chat-request.ts';
import { estimatePrompt, tokensOf } from './estimate-chat.ts';

/**
 * Converts tokens to the units that a source bills. Cached tokens are part of the prompt, and a source without a rate for them
 * bills them as other prompt tokens. Tokens written to a cache are billed as additional prompt tokens.
 */
function chatUsage(tokens: TokenUsage, { cacheWritePercent = 0, rates }: Source): Usage {
  const cached = rates.cached_input_token === undefined ? 0 : tokens.cachedTokens;
  const written = ((tokens.cacheWriteTokens ?? 0) * cacheWritePercent) / 100;
  const surcharge = tokens.cacheWriteSurcharge ?? written;
  const usage: Partial<Record<Unit, number>> = {
    text_input_token: toMillis(tokens.inputTokens - cached + surcharge),
    text_output_token: tokens.outputTokens,
  };
  if (cached !== 0) usage.cached_input_token = cached;
  if (rates.request !== undefined) usage.request = 1;
  return usage;
}

const INPUT_UNITS: ReadonlySet<string> = new Set<Unit>(['text_input_token', 'cached_input_token']);

/** Returns the rates of a source for one request. A vendor's rates for long prompts apply to the whole request. */
export function chatRates(
  { inputTokens }: Pick<TokenUsage, 'inputTokens'>,
  { longPrompt, rates }: Source,
): Rates {
  if (longPrompt === undefined || inputTokens <= longPrompt.above) return rates;
  const { inputPercent, outputPercent } = longPrompt;
  const dearer = (unit: string, rate: bigint): bigint => {
    if (unit === 'request') return rate;
    const percent = INPUT_UNITS.has(unit) ? inputPercent : outputPercent;
    return (rate * BigInt(percent) + 99n) / 100n;
  };
  return Object.fromEntries(
    Object.entries(rates).map(([unit, rate]) => [unit, dearer(unit, rate)]),
  );
}

/**
 * Returns the usage that the request would have without a prompt cache. Undefined when it used no cache, or when the source has
 * no rate for tokens.
 */
function uncachedUsage(tokens: TokenUsage, source: Source): Usage | undefined {
  const { cachedTokens, cacheWriteTokens = 0, inputTokens, outputTokens } = tokens;
  if (cachedTokens === 0 && cacheWriteTokens === 0) return undefined;
  if (source.rates.text_input_token === undefined) return undefined;
  return chatUsage({ inputTokens, outputTokens, cachedTokens: 0 }, source);
}

/** Price of `tokens` at `source`, margin included. */
export const chatPriceRaw = (tokens: TokenUsage, source: Source): bigint =>
  priceRaw(chatUsage(tokens, source), chatRates(tokens, source), source.marginBps);

/** Returns the tokens of an answer: the upstream's count, else an estimate by the lengths of prompt and answer. */
export const meterTokens = (
  request: ChatRequest,
  { usage, answerChars }: Pick<ChatCompletion, 'usage' | 'answerChars'>,
): TokenUsage =>
  usage ?? {
    inputTokens: estimatePrompt(request),
    cachedTokens: 0,
    outputTokens: tokensOf(answerChars),
  };

/**
 * Meters an answer by the usage that the upstream reports, else by the length of request and answer. With `most`, the result
 * never exceeds it.
 */
export function meterChat(
  request: ChatRequest,
  reported: Reported,
  source: Source,
  most?: TokenUsage,
): Metered {
  const told = meterTokens(request, reported);
  const estimated = reported.usage === null;
  const believed = most && clampTokens(told, most);
  const tokens = believed?.tokens ?? told;
  return {
    usage: chatUsage(tokens, source),
    rates: chatRates(tokens, source),
    uncached: uncachedUsage(tokens, source),
    estimated,
    tokens,
    note: reported.note,
    // Without a reported count the tokens are this server's estimate.
    reported: believed === undefined || estimated ? undefined : disbelieved(told, source, believed),
  };
}

const disbelieved = (
  told: TokenUsage,
  source: Source,
  { isImpossible }: { readonly isImpossible: boolean },
): ImplausibleUsage => ({
  usage: chatUsage(told, source),
  rates: chatRates(told, source),
  isImpossible,
});
