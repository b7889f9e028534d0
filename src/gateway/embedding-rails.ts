import type { Clock } from '../kernel/clock.ts';
import type { EmbeddingRail } from '../rails/embedding-rail.ts';
import { createOpenAiEmbeddingRail } from '../rails/openai-embedding.ts';
import type { UpstreamLimits } from '../rails/upstream-pool.ts';
import type { Catalogue, Source } from './catalogue.ts';

/** The way to each provider that embeddings can be bought from. */
export interface EmbeddingRails extends AsyncDisposable {
  /** Undefined: this server cannot buy from such a source. */
  railOf(source: Source): EmbeddingRail | undefined;
}

/** Opens one rail for each provider of the OpenAI dialect that an embedding model of the catalogue names. */
export function createEmbeddingRails(deps: {
  readonly catalogue: Catalogue;
  /** The engine inside this server. */
  readonly local: EmbeddingRail;
  readonly clock: Clock;
  readonly limits?: Partial<UpstreamLimits>;
}): EmbeddingRails {
  const { catalogue, clock, limits, local } = deps;
  const remote = new Map<string, EmbeddingRail & AsyncDisposable>();
  for (const { modality, sources } of catalogue.models) {
    if (modality !== 'embedding') continue;
    for (const { provider: id } of sources) {
      const provider = catalogue.provider(id);
      if (provider?.dialect !== 'openai' || provider.baseUrl === null || remote.has(id)) continue;
      const upstream = { baseUrl: provider.baseUrl, apiKey: provider.apiKey };
      remote.set(id, createOpenAiEmbeddingRail({ upstream, clock, ...(limits && { limits }) }));
    }
  }
  return {
    railOf({ rail, provider }) {
      if (rail === 'byok' || rail === 'x402-router') return undefined;
      return provider === 'local' ? local : remote.get(provider);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...remote.values()].map((rail) => rail[Symbol.asyncDispose]()));
    },
  };
}
