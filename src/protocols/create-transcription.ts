import type { UpstreamSocket } from '../models/providers/realtime/realtime-rail.ts';
import type { VoiceDeps } from '../voice/live/voice-deps.ts';
import { record } from '../voice/recording/record-session.ts';
import type { RecordingStage } from '../voice/recording/stage.ts';
import type { TranscriptDialect } from '../voice/transcription/dialect.ts';
import {
  LocalTranscriber,
  type TakenRecogniser,
} from '../voice/transcription/local-transcriber.ts';
import {
  type TranscriptionInput,
  TranscriptionStream,
} from '../voice/transcription/transcription-stream.ts';
import type { TurnSettings } from './deepgram/flux/turn-thresholds.ts';
import type { TurnStream } from './deepgram/flux/turn-writer.ts';
import { turnsDialect } from './deepgram/flux/turns-dialect.ts';
import {
  type ListenParameters,
  type ListenStream,
  listenDialect,
} from './deepgram/listen/listen-dialect.ts';
import { UpstreamTranscriber } from './deepgram/listen/upstream-transcriber.ts';
import { PLAIN_DIALECT } from './transcript-events/plain-dialect.ts';

/** Choice of a dialect with its parameters, as plain data that a recording can store. */
export type DialectChoice =
  | { readonly kind: 'plain' }
  | {
      readonly kind: 'listen';
      readonly parameters: ListenParameters;
      readonly stream: ListenStream;
    }
  | { readonly kind: 'turns'; readonly settings: TurnSettings; readonly stream: TurnStream };

function dialectOf(choice: DialectChoice): TranscriptDialect {
  switch (choice.kind) {
    case 'plain':
      return PLAIN_DIALECT;
    case 'listen':
      return listenDialect(choice.parameters, choice.stream);
    case 'turns':
      return turnsDialect(choice.settings, choice.stream);
  }
}

/** Transcriber of a stream: a recogniser or an upstream, acquired before the stream was accepted. */
export type HeardBy =
  | { readonly kind: 'recogniser'; readonly recogniser: TakenRecogniser }
  | { readonly kind: 'upstream'; readonly upstream: UpstreamSocket };

export type TranscriptionDeps = Pick<
  VoiceDeps,
  'clock' | 'sessions' | 'metrics' | 'trace' | 'log'
> & {
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

export type TapedTranscription = {
  readonly kind: 'transcription';
  readonly input: Omit<TranscriptionParts, 'sessionHold' | 'heardBy'>;
  readonly heardBy: HeardBy['kind'];
  readonly hasGates: boolean;
};

/** Opens a live transcription. Records it when this process records sessions. */
export function openTranscribed(deps: VoiceDeps, parts: TranscriptionParts): TranscriptionStream {
  const { heardBy, sessionHold: _hold, ...input } = parts;
  const hasGates = deps.speechGates !== undefined;
  const taped: TapedTranscription = {
    kind: 'transcription',
    input,
    heardBy: heardBy.kind,
    hasGates,
  };
  const recorder = record(deps, taped);
  if (recorder === undefined) return createTranscription(deps, parts);
  return recorder.driven(stageTranscription(recorder, deps, parts));
}

export function stageTranscription(
  stage: RecordingStage,
  deps: TranscriptionDeps,
  parts: TranscriptionParts,
): TranscriptionStream {
  const { engines, speechGates } = deps;
  const staged: TranscriptionDeps = {
    ...deps,
    clock: stage.clock,
    engines: { vad: stage.between('vad', engines.vad) },
    speechGates: speechGates && stage.between('gates', speechGates),
  };
  const sessionHold = stage.between('sessionHold', parts.sessionHold);
  return createTranscription(staged, {
    ...parts,
    sessionHold,
    heardBy: stageHearing(stage, parts),
  });
}

function stageHearing(
  stage: RecordingStage,
  { heardBy }: Pick<TranscriptionParts, 'heardBy'>,
): HeardBy {
  return heardBy.kind === 'upstream'
    ? { kind: 'upstream', upstream: stage.between('upstream', heardBy.upstream) }
    : { kind: 'recogniser', recogniser: stage.between('recogniser', heardBy.recogniser) };
}

/** Builds a live transcription from its parts. */
function createTranscription(
  deps: TranscriptionDeps,
  { heardBy, ...parts }: TranscriptionParts,
): TranscriptionStream {
  const { clock } = deps;
  const { encoding, owner, sessionHold, sampleRateHz } = parts;
  const dialect = dialectOf(parts.dialect);
  const { silenceDurationMs } = dialect;
  const isOwnKey = owner.source.rail === 'byok';
  return new TranscriptionStream(deps, {
    owner,
    sessionHold,
    encoding,
    sampleRateHz,
    dialect,
    isRelayed: heardBy.kind === 'upstream',
    openTranscriber: (stage) =>
      heardBy.kind === 'upstream'
        ? new UpstreamTranscriber({ clock, dialect, isOwnKey, upstream: heardBy.upstream }, stage)
        : new LocalTranscriber(
            deps,
            { encoding, sampleRateHz, silenceDurationMs, recogniser: heardBy.recogniser },
            stage,
          ),
  });
}
