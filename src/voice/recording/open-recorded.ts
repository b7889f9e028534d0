import { type RelayDeps, type RelayInput, RelaySession } from '../relay/relay-session.ts';
import {
  type RealtimeDeps,
  type RealtimeInput,
  RealtimeSession,
} from '../session/realtime-session.ts';
import type { VoiceDeps } from '../session/voice-deps.ts';
import {
  createTranscription,
  type HeardBy,
  type TranscriptionDeps,
  type TranscriptionParts,
} from '../transcription/create-transcription.ts';
import type { TranscriptionStream } from '../transcription/transcription-stream.ts';
import { Recorder } from './recorder.ts';
import type { RecordingStage } from './stage.ts';
import type { TapedInput } from './tape.ts';

/** A session at the engines of this server, recorded where this process records. */
export function openRealtime(deps: VoiceDeps, input: RealtimeInput): RealtimeSession {
  const { pipeline: _legs, sessionHolds: _purses, ...begun } = input;
  const hasGates = deps.speechGates !== undefined;
  const recorder = record(deps, input, { kind: 'realtime', hasGates, input: begun });
  if (recorder === undefined) return new RealtimeSession(deps, input);
  return recorder.driven(stageRealtime(recorder, deps, input));
}

/** A session at an upstream, recorded where this process records. */
export function openRelayed(
  deps: RelayDeps & Pick<VoiceDeps, 'tapes'>,
  input: RelayInput,
): RelaySession {
  const { owner, model } = input;
  const recorder = record(deps, input, { kind: 'relay', input: { owner, model } });
  if (recorder === undefined) return new RelaySession(deps, input);
  return recorder.driven(stageRelayed(recorder, deps, input));
}

/** A live transcription, recorded where this process records. */
export function openTranscribed(deps: VoiceDeps, parts: TranscriptionParts): TranscriptionStream {
  const { heardBy, sessionHold: _purse, ...input } = parts;
  const hasGates = deps.speechGates !== undefined;
  const taped = { kind: 'transcription', input, heardBy: heardBy.kind, hasGates } as const;
  const recorder = record(deps, parts, taped);
  if (recorder === undefined) return createTranscription(deps, parts);
  return recorder.driven(stageTranscription(recorder, deps, parts));
}

/** The same session on a stage: all that it talks to stands behind that. */
export function stageRealtime(
  stage: RecordingStage,
  deps: RealtimeDeps,
  input: RealtimeInput,
): RealtimeSession {
  const { engines, speechGates } = deps;
  const staged: RealtimeDeps = {
    ...deps,
    clock: stage.clock,
    random: stage.random,
    engines: { vad: stage.between('vad', engines.vad) },
    speechGates: speechGates && stage.between('gates', speechGates),
  };
  const sessionHolds = stage.between('sessionHold', input.sessionHolds);
  const pipeline = stage.between('pipeline', input.pipeline);
  return new RealtimeSession(staged, { ...input, sessionHolds, pipeline });
}

export function stageRelayed(
  stage: RecordingStage,
  deps: RelayDeps,
  input: RelayInput,
): RelaySession {
  const staged = { ...deps, clock: stage.clock, random: stage.random };
  const sessionHold = stage.between('sessionHold', input.sessionHold);
  const upstream = stage.between('upstream', input.upstream);
  return new RelaySession(staged, { ...input, sessionHold, upstream });
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

function record(
  { clock, log, random, tapes }: Pick<VoiceDeps, 'clock' | 'log' | 'random' | 'tapes'>,
  { owner }: Pick<RealtimeInput, 'owner'>,
  taped: TapedInput,
): Recorder | undefined {
  const sink = tapes?.begin(owner.sessionId);
  return sink && new Recorder({ clock, log, sink, taped, seed: random.bytes(32) });
}
