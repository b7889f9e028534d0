import type { Clock } from '../kernel/clock.ts';
import type { Random } from '../kernel/random.ts';
import { createOpenAiTranscriptionRail } from '../rails/openai-transcription.ts';
import type { TranscriptionRail } from '../rails/transcription-rail.ts';
import type { UpstreamLimits } from '../rails/upstream-pool.ts';
import type { Catalogue, Source } from './catalogue.ts';

/** The way to each provider that whole files can be transcribed by. */
export interface TranscriptionRails extends AsyncDisposable {
  /** Undefined: this server cannot buy from such a source. */
  railOf(source: Source): TranscriptionRail | undefined;
}

/** Opens one rail for each provider that a transcription model of the catalogue names and whose dialect is known. */
export function createTranscriptionRails(deps: {
  readonly catalogue: Catalogue;
  readonly local: TranscriptionRail;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits?: Partial<UpstreamLimits>;
}): TranscriptionRails {
  const { catalogue, local } = deps;
  const remote = new Map<string, TranscriptionRail & AsyncDisposable>();
  for (const { modality, sources } of catalogue.models) {
    if (modality !== 'stt') continue;
    for (const { provider: id } of sources) {
      const provider = catalogue.provider(id);
      if (provider?.dialect !== 'openai' || provider.baseUrl === null || remote.has(id)) continue;
      const upstream = { baseUrl: provider.baseUrl, apiKey: provider.apiKey };
      remote.set(id, createOpenAiTranscriptionRail({ ...deps, upstream }));
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
