import { LIMITS } from '../../kernel/limits.ts';
import type { Rates, Usage } from '../../kernel/price.ts';
import type { TokenUsage } from '../providers/chat-rail.ts';

/** Usage that an upstream reports beyond what its request can have had. */
export type Disbelieved = {
  readonly usage: Usage;
  readonly rates?: Rates;
  /** By so much that it is no matter of how one counts. */
  readonly isImpossible: boolean;
};

/** Whether so much of something is far beyond the most that it can have been. */
export const isImpossible = (told: number, most: number): boolean =>
  told > LIMITS.impossibleUse.times * most + LIMITS.impossibleUse.units;

/** Keeps each unit that an upstream reports within the most that its request can have had of it. */
export function believe(
  told: Usage,
  most: Usage,
): { readonly usage: Usage; readonly told?: Disbelieved } {
  const usage: Record<string, number> = { ...told };
  let isBeyond = false;
  let isFarBeyond = false;
  for (const [unit, amount] of Object.entries(told)) {
    const around = unit.endsWith('_token') ? LIMITS.unaskedTokens : 0;
    const limit = (most[unit as keyof Usage] ?? 0) + around;
    if (amount <= limit) continue;
    usage[unit] = limit;
    isBeyond = true;
    isFarBeyond ||= isImpossible(amount, limit);
  }
  return isBeyond ? { usage, told: { usage: told, isImpossible: isFarBeyond } } : { usage };
}

/** The same for the tokens of a chat. Undefined: nothing of them goes beyond. */
export function believeTokens(
  told: TokenUsage,
  most: TokenUsage,
): { readonly tokens: TokenUsage; readonly isImpossible: boolean } | undefined {
  const mostInput = most.inputTokens + LIMITS.unaskedTokens;
  const inputTokens = Math.min(told.inputTokens, mostInput);
  const outputTokens = Math.min(told.outputTokens, most.outputTokens);
  const { cacheWriteSurcharge: surcharge, cacheWriteTokens: written } = told;
  // The most of a prompt has room for what an upstream takes for writing it to its cache.
  const roomTokens = mostInput - inputTokens;
  const isBeyond =
    inputTokens < told.inputTokens ||
    outputTokens < told.outputTokens ||
    (surcharge ?? 0) > roomTokens;
  if (!isBeyond) return undefined;
  return {
    tokens: {
      inputTokens,
      outputTokens,
      cachedTokens: Math.min(told.cachedTokens, inputTokens),
      ...(written !== undefined && { cacheWriteTokens: Math.min(written, inputTokens) }),
      ...(surcharge !== undefined && { cacheWriteSurcharge: Math.min(surcharge, roomTokens) }),
    },
    isImpossible:
      isImpossible(told.inputTokens + (surcharge ?? 0), mostInput) ||
      isImpossible(told.outputTokens, most.outputTokens),
  };
}
