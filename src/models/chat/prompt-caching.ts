import type { Source } from '../catalogue/catalogue.ts';
import { MODEL_LIMITS } from '../limits.ts';
import type { Breakpoints, TokenUsage } from '../providers/chat-rail.ts';
import type { Buyer } from '../purchase/buyer.ts';
import type { ModelSources } from '../routing/keyed-sources.ts';
import type { Offers } from '../routing/plan-offers.ts';
import type { PromptBeginnings } from './prompt-beginnings.ts';
import type { PromptHolders } from './prompt-holders.ts';

/** Use that one request makes of the prompt caches of its sources. */
export type PromptCachePlan = {
  /** Least prompt tokens from which this server marks the prompt for one of the sources. Undefined: for none. */
  readonly markedFrom: number | undefined;
  breakpointsAt(source: Source): Breakpoints | undefined;
  /** Returns the offers with the source first whose cache holds the prompt, unless that source is dearer. */
  preferHolder<R>(offers: Offers<R>): Offers<R>;
  /** Notes which source holds the prompt after an answer, by the usage that the upstream reported. */
  note(used: TokenUsage | null, source: Source): void;
};

/**
 * Plans the use of prompt caches for one request. `needsMarks` returns true for a source that caches only the marked part of a
 * prompt.
 */
export function planPromptCaching(
  holders: PromptHolders,
  { model, sources }: ModelSources,
  { accountId, promptCaching }: Pick<Buyer, 'accountId' | 'promptCaching'>,
  beginnings: PromptBeginnings,
  needsMarks: (source: Source) => boolean,
): PromptCachePlan {
  // With one source there is no choice of a source to remember.
  const isChosen = sources.length > 1;
  const marks = promptCaching === 'auto';
  const leasts = sources.flatMap(({ source }) =>
    marks && needsMarks(source) ? [leastTokensOf(source)] : [],
  );
  return {
    markedFrom: leasts.length === 0 ? undefined : Math.min(...leasts),
    breakpointsAt: (source) => (marks ? { leastTokens: leastTokensOf(source) } : undefined),
    preferHolder: (offers) =>
      isChosen ? holders.preferHolder(offers, beginnings.of(accountId, model.id)) : offers,
    note(used, source) {
      if (used === null || !isChosen) return;
      const isCached = used.cachedTokens > 0 || (used.cacheWriteTokens ?? 0) > 0;
      if (!isCached && needsMarks(source)) return;
      holders.remember(beginnings.of(accountId, model.id), source, used);
    },
  };
}

const leastTokensOf = ({
  cacheLeastTokens = MODEL_LIMITS.chat.promptCache.leastTokens,
}: Source): number => cacheLeastTokens;
