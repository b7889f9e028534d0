import type { Clock } from '../../kernel/clock.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { createOpenAiSpeechRail } from '../providers/openai/openai-speech.ts';
import type { PaidCalls } from '../providers/paid-calls.ts';
import type { SpeechRail } from '../providers/speech-rail.ts';
import type { UpstreamLimits } from '../providers/upstream-pool.ts';
import { openRails, type Rails } from '../routing/open-rails.ts';

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
    catalogue: deps.catalogue,
    local: deps.localSpeech,
    paidCalls: deps.paidCalls,
    open: (dialect, upstream) =>
      dialect === 'openai' ? createOpenAiSpeechRail({ ...deps, upstream }) : undefined,
  });
}
