import type { UpstreamSocket } from '../../models/providers/realtime/realtime-rail.ts';
import type { VoiceDeps } from '../session/voice-deps.ts';
import { type DialectChoice, dialectOf } from './dialect-of.ts';
import { LocalTranscriber, type TakenRecogniser } from './local-transcriber.ts';
import { type TranscriptionInput, TranscriptionStream } from './transcription-stream.ts';
import { UpstreamTranscriber } from './upstream-transcriber.ts';

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
  'owner' | 'sessionHold' | 'encoding' | 'sampleRateHz'
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
  const { encoding, owner, sessionHold, sampleRateHz } = parts;
  const dialect = dialectOf(parts.dialect);
  const { silenceDurationMs } = dialect;
  return new TranscriptionStream(deps, {
    owner,
    sessionHold,
    encoding,
    sampleRateHz,
    dialect,
    isRelayed: heardBy.kind === 'upstream',
    openTranscriber: (stage) =>
      heardBy.kind === 'upstream'
        ? new UpstreamTranscriber({ clock, dialect, upstream: heardBy.upstream }, stage)
        : new LocalTranscriber(
            deps,
            { encoding, sampleRateHz, silenceDurationMs, recogniser: heardBy.recogniser },
            stage,
          ),
  });
}
