import type { Clock } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/random.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { createOpenAiTranscriptionRail } from '../providers/openai/openai-transcription.ts';
import type { PaidCalls } from '../providers/paid-calls.ts';
import type { TranscriptionRail } from '../providers/transcription-rail.ts';
import type { UpstreamLimits } from '../providers/upstream-pool.ts';
import { openRails, type Rails } from '../routing/open-rails.ts';

export type TranscriptionRails = Rails<TranscriptionRail>;

/** The rails of all providers that a transcription model of the catalogue names. */
export function createTranscriptionRails(deps: {
  readonly catalogue: Catalogue;
  readonly local: TranscriptionRail;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits?: Partial<UpstreamLimits>;
  readonly paidCalls?: PaidCalls | undefined;
}): TranscriptionRails {
  return openRails<TranscriptionRail>({
    catalogue: deps.catalogue,
    local: deps.local,
    paidCalls: deps.paidCalls,
    open: (dialect, upstream) =>
      dialect === 'openai' ? createOpenAiTranscriptionRail({ ...deps, upstream }) : undefined,
  });
}
