import type { Clock } from '../kernel/clock.ts';
import { createOpenAiSpeechRail } from '../rails/openai-speech.ts';
import type { PaidCalls } from '../rails/paid-calls.ts';
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
  readonly paidCalls?: PaidCalls | undefined;
}): SpeechRails {
  return openRails<SpeechRail>({
    ...{ catalogue: deps.catalogue, local: deps.localSpeech, paidCalls: deps.paidCalls },
    open: (dialect, upstream) =>
      dialect === 'openai' ? createOpenAiSpeechRail({ ...deps, upstream }) : undefined,
  });
}
