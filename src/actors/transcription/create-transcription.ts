import type { UpstreamSocket } from '../../rails/realtime/realtime-rail.ts';
import { type TranscriptionInput, TranscriptionStream } from '../transcription-stream.ts';
import type { VoiceDeps } from '../voice-deps.ts';
import { type DialectChoice, dialectOf } from './dialect-of.ts';
import { LocalHearing, type TakenRecogniser } from './local-hearing.ts';
import { UpstreamHearing } from './upstream-hearing.ts';

/** Who hears a stream, taken for it or opened for it before it was accepted. */
export type HeardBy =
  | { readonly kind: 'recogniser'; readonly recogniser: TakenRecogniser }
  | { readonly kind: 'upstream'; readonly upstream: UpstreamSocket };

export type TranscriptionDeps = Pick<VoiceDeps, 'clock' | 'sessions' | 'metrics' | 'log'> & {
  readonly engines: Pick<VoiceDeps['engines'], 'vad'>;
  readonly speechGates: VoiceDeps['speechGates'];
};

export type TranscriptionParts = Pick<
  TranscriptionInput,
  'owner' | 'purse' | 'encoding' | 'sampleRateHz'
> & {
  readonly dialect: DialectChoice;
  readonly heardBy: HeardBy;
};

/** A live transcription of its parts. */
export function createTranscription(
  deps: TranscriptionDeps,
  { heardBy, ...parts }: TranscriptionParts,
): TranscriptionStream {
  const { clock } = deps;
  const { encoding, owner, purse, sampleRateHz } = parts;
  const dialect = dialectOf(parts.dialect);
  const { silenceDurationMs } = dialect;
  return new TranscriptionStream(deps, {
    ...{ owner, purse, encoding, sampleRateHz, dialect, isRelayed: heardBy.kind === 'upstream' },
    openHearing: (stage) =>
      heardBy.kind === 'upstream'
        ? new UpstreamHearing({ clock, dialect, upstream: heardBy.upstream }, stage)
        : new LocalHearing(
            deps,
            { encoding, sampleRateHz, silenceDurationMs, recogniser: heardBy.recogniser },
            stage,
          ),
  });
}
