import { priceRaw, type Usage } from '../../kernel/price.ts';
import type { Source } from '../catalogue/catalogue.ts';
import { tokensOf } from '../chat/estimate-chat.ts';
import type { EmbeddingInput } from '../providers/embedding-rail.ts';
import { clampUsage, type Metered } from '../purchase/clamp-usage.ts';

/** Counts the tokens of an input: its texts by `ofText`, its lists of tokens by their length. */
function countTokens(input: EmbeddingInput, ofText: (text: string) => number): number {
  if (typeof input === 'string') return ofText(input);
  let tokens = 0;
  for (const part of input) {
    if (typeof part === 'number') tokens++;
    else tokens += typeof part === 'string' ? ofText(part) : part.length;
  }
  return tokens;
}

/** Returns an upper bound of the tokens of an input: one for each byte, since no tokenizer makes more. */
export const boundTokens = (input: EmbeddingInput): number =>
  countTokens(input, (text) => Buffer.byteLength(text));

const usageOf = (tokens: number, { rates }: Source): Usage => ({
  text_input_token: tokens,
  ...(rates.request === undefined ? {} : { request: 1 }),
});

/** Price of embedding `tokens` at `source`, margin included. */
export const embeddingPriceRaw = (tokens: number, source: Source): bigint =>
  priceRaw(usageOf(tokens, source), source.rates, source.marginBps);

/**
 * Meters embeddings by the tokens that the upstream reports, else by the length of the input. The result never exceeds the
 * bound of the input.
 */
export function meterEmbeddings(
  input: EmbeddingInput,
  promptTokens: number | null,
  source: Source,
): Metered {
  const tokens = promptTokens ?? countTokens(input, ({ length }) => tokensOf(length));
  const believed = clampUsage(usageOf(tokens, source), usageOf(boundTokens(input), source));
  return { ...believed, estimated: promptTokens === null };
}
