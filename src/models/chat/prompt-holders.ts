import { createHash, type Hash } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { isObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import type { Source } from '../catalogue/catalogue.ts';
import type { TokenUsage } from '../providers/chat-rail.ts';
import type { Offers } from '../routing/plan-offers.ts';
import type { ChatRequest } from './chat-request.ts';
import { chatPriceRaw } from './chat-usage.ts';

/** A source that was sent a prompt lately, and what the request used there. */
type Holder = {
  readonly source: string;
  /** As if its cache had served all that is repeated. */
  readonly tokens: TokenUsage;
  readonly untilMs: number;
};

const { heldMs, holders, leastTokens, readChars } = LIMITS.promptCache;

/** The beginnings of a prompt that other requests may share. */
type Beginning = {
  readonly key: string;
  /** Undefined: all of the prompt is likely to be repeated. */
  readonly tokens: number | undefined;
};

/**
 * Remembers which source was sent a prompt lately, for as long as upstreams keep prompts in their caches. What one account
 * sends decides nothing for another one. Bounded: what was used longest ago is forgotten first.
 */
export class PromptHolders {
  readonly #holders = new RecentMap<string, Holder>(holders);
  readonly #clock: Pick<Clock, 'monotonicMs'>;

  constructor(deps: { readonly clock: Pick<Clock, 'monotonicMs'> }) {
    this.#clock = deps.clock;
  }

  /** A request was served there. One that a cache has no room or no price for is not remembered. */
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
   * The offers with the source first that holds the prompt, among those of its rank. It stays in its place where such a request
   * costs less elsewhere than it does there with the cache.
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

const INSTRUCTIONS: ReadonlySet<unknown> = new Set(['system', 'developer']);

/**
 * The beginnings of a request: that of its conversation, which is up to the first message or what the caller calls it by
 * `prompt_cache_key`, and its tools and instructions, where they alone are worth caching.
 */
export function beginningsOf(
  accountId: string,
  modelId: string,
  request: ChatRequest,
): readonly Beginning[] {
  const { messages, prompt_cache_key: named, tools } = request;
  const first = messages.findIndex(({ role }) => !INSTRUCTIONS.has(role));
  const head = new Digest([accountId, modelId]);
  head.add(tools);
  head.add(messages.slice(0, first === -1 ? undefined : first).map(({ content }) => content));
  const tokens = Math.floor(head.chars / LIMITS.charsPerToken);
  const common = tokens < leastTokens ? [] : [{ key: head.key('head'), tokens }];
  if (typeof named === 'string' && named !== '') {
    const digest = new Digest([accountId, modelId]);
    digest.add(named);
    return [{ key: digest.key('named'), tokens: undefined }, ...common];
  }
  head.add(messages[first]?.content);
  return [{ key: head.key('conversation'), tokens: undefined }, ...common];
}

/** A digest of texts, of the first characters of each: a longer prompt is told apart by these as well. */
class Digest {
  readonly #hash: Hash;
  /** How much was read by now. */
  chars = 0;

  constructor(owner: readonly string[]) {
    this.#hash = createHash('sha256').update(JSON.stringify(owner));
  }

  /** Reads no more than `readChars` characters of it. */
  add(value: unknown): void {
    this.#read(value, this.chars + readChars);
  }

  #read(value: unknown, end: number): void {
    if (this.chars >= end) return;
    if (Array.isArray(value)) {
      for (const item of value) this.#read(item, end);
    } else if (isObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        // Where marks stand changes nothing of what is cached.
        if (name === 'cache_control') continue;
        this.#read(name, end);
        this.#read(member, end);
      }
    } else {
      const text = String(value).slice(0, end - this.chars);
      this.chars += text.length;
      this.#hash.update(`${text.length}:`).update(text);
    }
  }

  /** Of what was added by now, as a beginning of such a kind. */
  key(kind: string): string {
    return `${kind}:${this.#hash.copy().digest('base64url')}`;
  }
}
