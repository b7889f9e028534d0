import type { Rates, Usage } from '../../kernel/price.ts';
import { MODEL_LIMITS } from '../limits.ts';
import { cachedParts } from '../providers/cached-parts.ts';
import type { Reported, TokenUsage } from '../providers/chat-rail.ts';

/** Usage that an upstream reports although its request cannot have used it. */
export type ImplausibleUsage = {
  readonly usage: Usage;
  readonly rates?: Rates | undefined;
  /** True when the excess is beyond any difference in counting (`MODEL_LIMITS.usage.impossible`). */
  readonly isImpossible: boolean;
};

/** Usage of an answer, in the units that its source bills. */
export type Metered = {
  readonly usage: Usage;
  /** Usage as it would be without the upstream's prompt cache. Undefined when the cache was not used. */
  readonly uncached?: Usage | undefined;
  /** Rates of this request. Absent: the source's usual rates. */
  readonly rates?: Rates | undefined;
  /**
   * All usage that the upstream reported, set when it exceeds the possible usage of the request. The excess is never billed.
   */
  readonly reported?: ImplausibleUsage | undefined;
  /** True when the upstream reported no usage. */
  readonly estimated: boolean;
  /** Usage in tokens, for models that count tokens. Read only by the trace and by `note`. */
  readonly tokens?: TokenUsage | undefined;
  readonly note?: Reported['note'];
};

/** Returns true when a reported number is far beyond its upper bound `most`: by `MODEL_LIMITS.usage.impossible`. */
export const isImpossible = (reported: number, most: number): boolean =>
  reported > MODEL_LIMITS.usage.impossible.times * most + MODEL_LIMITS.usage.impossible.units;

/**
 * Returns the billed part of seconds that an upstream counted: at least zero, and at most the time that has passed here plus a
 * tolerance for rounding (docs/decisions/0096).
 */
export const clampSeconds = (told: number, passedSeconds: number): number =>
  Math.min(Math.max(0, told), mostSeconds(passedSeconds));

/** Returns the upper bound of credible seconds for a time that passed here. */
export const mostSeconds = (passedSeconds: number): number =>
  Math.max(0, passedSeconds) + MODEL_LIMITS.usage.liveRoundingSeconds;

/**
 * Cuts each unit of the reported usage to the most that the request can have used. Tokens have a tolerance of
 * `MODEL_LIMITS.usage.unaskedTokens`.
 */
export function clampUsage(
  reported: Usage,
  most: Usage,
): { readonly usage: Usage; readonly reported?: ImplausibleUsage } {
  const usage: Record<string, number> = { ...reported };
  let isBeyond = false;
  let isFarBeyond = false;
  for (const [unit, amount] of Object.entries(reported)) {
    const around = unit.endsWith('_token') ? MODEL_LIMITS.usage.unaskedTokens : 0;
    const limit = (most[unit as keyof Usage] ?? 0) + around;
    if (amount <= limit) continue;
    usage[unit] = limit;
    isBeyond = true;
    isFarBeyond ||= isImpossible(amount, limit);
  }
  return isBeyond ? { usage, reported: { usage: reported, isImpossible: isFarBeyond } } : { usage };
}

/** Cuts the reported tokens of a chat to the most that it can have used. Undefined when no count exceeds its bound. */
export function clampTokens(
  reported: TokenUsage,
  most: TokenUsage,
): { readonly tokens: TokenUsage; readonly isImpossible: boolean } | undefined {
  const mostInput = most.inputTokens + MODEL_LIMITS.usage.unaskedTokens;
  const inputTokens = Math.min(reported.inputTokens, mostInput);
  const outputTokens = Math.min(reported.outputTokens, most.outputTokens);
  const { cacheWriteSurcharge: surcharge, cacheWriteTokens: written } = reported;
  // The bound of the input includes the upstream's surcharge for writing the prompt to its cache.
  const roomTokens = mostInput - inputTokens;
  const isBeyond =
    inputTokens < reported.inputTokens ||
    outputTokens < reported.outputTokens ||
    (surcharge ?? 0) > roomTokens;
  if (!isBeyond) return undefined;
  return {
    tokens: {
      inputTokens,
      outputTokens,
      ...cachedParts(inputTokens, reported.cachedTokens, written),
      ...(surcharge !== undefined && { cacheWriteSurcharge: Math.min(surcharge, roomTokens) }),
    },
    isImpossible:
      isImpossible(reported.inputTokens + (surcharge ?? 0), mostInput) ||
      isImpossible(reported.outputTokens, most.outputTokens),
  };
}
