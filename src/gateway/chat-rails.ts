import type { Clock } from '../kernel/clock.ts';
import { createAnthropicRail } from '../rails/anthropic/anthropic.ts';
import type { ChatRail } from '../rails/chat-rail.ts';
import { createOpenAiRail } from '../rails/openai.ts';
import type { UpstreamLimits } from '../rails/upstream-pool.ts';
import type { Catalogue, Dialect, Source } from './catalogue.ts';

/** The way to each provider that chat can be bought from. */
export interface ChatRails extends AsyncDisposable {
  /** Undefined: this server cannot buy from such a source. */
  railOf(source: Source): ChatRail | undefined;
}

/** The dialects that chat is spoken in. */
const OPENERS: ReadonlyMap<Dialect, typeof createOpenAiRail> = new Map([
  ['openai', createOpenAiRail],
  ['anthropic', createAnthropicRail],
]);

/**
 * Opens one rail for each provider that a chat model of the catalogue names. A provider of another
 * dialect, and a rail that is paid in another way, have none and are passed over.
 */
export function createChatRails(deps: {
  readonly catalogue: Catalogue;
  readonly localGuide: ChatRail;
  readonly clock: Clock;
  readonly limits?: Partial<UpstreamLimits>;
}): ChatRails {
  const { catalogue, clock, limits, localGuide } = deps;
  const remote = new Map<string, ChatRail & AsyncDisposable>();
  for (const { modality, sources } of catalogue.models) {
    if (modality !== 'text') continue;
    for (const { provider: id } of sources) {
      const provider = catalogue.provider(id);
      if (provider === undefined || provider.baseUrl === null || remote.has(id)) continue;
      const open = OPENERS.get(provider.dialect);
      if (open === undefined) continue;
      const upstream = { baseUrl: provider.baseUrl, apiKey: provider.apiKey };
      remote.set(id, open({ upstream, clock, ...(limits && { limits }) }));
    }
  }
  return {
    railOf({ rail, provider }) {
      if (rail === 'byok' || rail === 'x402-router') return undefined;
      return provider === 'local' ? localGuide : remote.get(provider);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...remote.values()].map((rail) => rail[Symbol.asyncDispose]()));
    },
  };
}
