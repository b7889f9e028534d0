import type { Clock } from '../kernel/clock.ts';
import { createOpenAiSpeechRail } from '../rails/openai-speech.ts';
import type { SpeechRail } from '../rails/speech-rail.ts';
import type { UpstreamLimits } from '../rails/upstream-pool.ts';
import type { Catalogue } from './catalogue.ts';
import { openRails, type Rails } from './open-rails.ts';

export type SpeechRails = Rails<SpeechRail>;

/** The rails of all providers that a speech model of the catalogue names. */
export function createSpeechRails(deps: {
  readonly catalogue: Catalogue;
  readonly localSpeech: SpeechRail;
  readonly clock: Clock;
  readonly limits?: Partial<UpstreamLimits>;
}): SpeechRails {
  return openRails<SpeechRail>({
    ...{ catalogue: deps.catalogue, modality: 'tts', local: deps.localSpeech },
    open: (dialect, upstream) =>
      dialect === 'openai' ? createOpenAiSpeechRail({ ...deps, upstream }) : undefined,
  });
}
