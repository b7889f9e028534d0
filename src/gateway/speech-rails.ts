import type { Clock } from '../kernel/clock.ts';
import { createOpenAiSpeechRail } from '../rails/openai-speech.ts';
import type { SpeechRail } from '../rails/speech-rail.ts';
import type { UpstreamLimits } from '../rails/upstream-pool.ts';
import type { Catalogue, Source } from './catalogue.ts';

/** The way to each provider that speech can be bought from. */
export interface SpeechRails extends AsyncDisposable {
  /** Undefined: this server cannot buy from such a source. */
  railOf(source: Source): SpeechRail | undefined;
}

/** Opens one rail for each provider that a speech model of the catalogue names, where it knows its dialect. */
export function createSpeechRails(deps: {
  readonly catalogue: Catalogue;
  readonly localSpeech: SpeechRail;
  readonly clock: Clock;
  readonly limits?: Partial<UpstreamLimits>;
}): SpeechRails {
  const { catalogue, clock, limits, localSpeech } = deps;
  const remote = new Map<string, SpeechRail & AsyncDisposable>();
  for (const { modality, sources } of catalogue.models) {
    if (modality !== 'tts') continue;
    for (const { provider: id } of sources) {
      const provider = catalogue.provider(id);
      if (provider?.dialect !== 'openai' || provider.baseUrl === null || remote.has(id)) continue;
      const upstream = { baseUrl: provider.baseUrl, apiKey: provider.apiKey };
      remote.set(id, createOpenAiSpeechRail({ upstream, clock, ...(limits && { limits }) }));
    }
  }
  return {
    railOf({ rail, provider }) {
      if (rail === 'byok' || rail === 'x402-router') return undefined;
      return provider === 'local' ? localSpeech : remote.get(provider);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...remote.values()].map((rail) => rail[Symbol.asyncDispose]()));
    },
  };
}
