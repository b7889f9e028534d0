import type { Clock } from '../../kernel/clock.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import type { Source } from '../catalogue/catalogue.ts';
import { MODEL_LIMITS } from '../limits.ts';
import type { TokenUsage } from '../providers/chat-rail.ts';
import type { Offers } from '../routing/plan-offers.ts';
import { chatPriceRaw } from './chat-price.ts';
import type { Beginning } from './prompt-beginnings.ts';

/** Source that got a prompt recently, with the usage of that request. */
type Holder = {
  readonly source: string;
  /** Tokens of the request, counted as if the cache had served the whole repeated part. */
  readonly tokens: TokenUsage;
  readonly untilMs: number;
};

const { heldMs, holders, leastTokens } = MODEL_LIMITS.chat.promptCache;

/**
 * Remembers the source that got a prompt last, for as long as upstreams cache prompts. The entries of one account never affect
 * another account. The number of entries is bounded, and the least recently used is forgotten first.
 */
export class PromptHolders {
  readonly #holders = new RecentMap<string, Holder>(holders);
  readonly #clock: Pick<Clock, 'monotonicMs'>;

  constructor(deps: { readonly clock: Pick<Clock, 'monotonicMs'> }) {
    this.#clock = deps.clock;
  }

  /**
   * Notes that a source has served a prompt. Ignores prompts too short for a cache, and sources without a price for cached
   * tokens.
   */
  remember(beginnings: readonly Beginning[], source: Source, used: TokenUsage): void {
    if (used.inputTokens < leastTokens) return;
    if (source.rail === 'x402-router' || source.rates.cached_input_token === undefined) return;
    const { inputTokens, outputTokens } = used;
    for (const { key, tokens = inputTokens } of beginnings) {
      this.#holders.set(key, {
        source: nameOf(source),
        tokens: { inputTokens, outputTokens, cachedTokens: Math.min(tokens, inputTokens) },
        untilMs: this.#clock.monotonicMs() + heldMs,
      });
    }
  }

  /**
   * Moves the source that holds the prompt to the front of its rank. It keeps its place when another source of the rank is
   * cheaper without a cache.
   */
  preferHolder<R>(offers: Offers<R>, beginnings: readonly Beginning[]): Offers<R> {
    const holder = this.#find(beginnings);
    const held = offers.find(({ source }) => nameOf(source) === holder?.source);
    if (holder === undefined || held === undefined) return offers;
    const { cachedTokens: _, ...tokens } = holder.tokens;
    const isDearer = offers.some(
      ({ rank, source }) =>
        rank === held.rank &&
        chatPriceRaw({ ...tokens, cachedTokens: 0 }, source) <
          chatPriceRaw(holder.tokens, held.source),
    );
    if (isDearer) return offers;
    const others = offers.filter((offer) => offer !== held);
    const at = others.findIndex(({ rank }) => rank === held.rank);
    const place = at === -1 ? offers.indexOf(held) : at;
    return [...others.slice(0, place), held, ...others.slice(place)] as unknown as Offers<R>;
  }

  #find(beginnings: readonly Beginning[]): Holder | undefined {
    for (const { key } of beginnings) {
      const holder = this.#holders.get(key);
      if (holder === undefined) continue;
      if (holder.untilMs > this.#clock.monotonicMs()) return holder;
      this.#holders.delete(key);
    }
    return undefined;
  }
}

const nameOf = ({ provider, rail, upstreamModel }: Source): string =>
  `${rail}/${provider}/${upstreamModel}`;
