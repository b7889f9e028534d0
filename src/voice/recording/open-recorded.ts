import type { VoiceDeps } from '../live/voice-deps.ts';
import {
  createTranscription,
  type HeardBy,
  type TranscriptionDeps,
  type TranscriptionParts,
} from '../protocols/create-transcription.ts';
import { createLiveSession } from '../protocols/openai-live/live-session.ts';
import type { LiveStart } from '../protocols/openai-live/read-start.ts';
import { createRealtimeSession } from '../protocols/openai-realtime/realtime-session.ts';
import type { SocketSession } from '../protocols/socket-session.ts';
import { LiveRelay, type LiveRelayInput } from '../relay/live-relay.ts';
import type { RelayDeps, RelayInput } from '../relay/relay-core.ts';
import { RelaySession } from '../relay/relay-session.ts';
import type { VoiceSessionDeps, VoiceSessionInput } from '../session/voice-session-input.ts';
import type { TranscriptionStream } from '../transcription/transcription-stream.ts';
import { Recorder } from './recorder.ts';
import type { RecordingStage } from './stage.ts';
import type { TapedInput } from './tape.ts';

/** Opens a session on this server's engines. Records it when this process records sessions. */
export function openRealtime(deps: VoiceDeps, input: VoiceSessionInput): SocketSession {
  const { pipeline: _pipeline, sessionHolds: _holds, release: _release, ...begun } = input;
  const hasGates = deps.speechGates !== undefined;
  const recorder = record(deps, input, { kind: 'realtime', hasGates, input: begun });
  if (recorder === undefined) return createRealtimeSession(deps, input);
  return recorder.driven(stageRealtime(recorder, deps, input));
}

/** Opens a relayed session. Records it when this process records sessions. */
export function openRelayed(
  deps: RelayDeps & Pick<VoiceDeps, 'tapes'>,
  input: RelayInput,
): RelaySession {
  const { owner, model } = input;
  const recorder = record(deps, input, { kind: 'relay', input: { owner, model } });
  if (recorder === undefined) return new RelaySession(deps, input);
  return recorder.driven(stageRelayed(recorder, deps, input));
}

/** Opens a live session on this server's engines. Records it when this process records sessions. */
export function openLive(
  deps: VoiceDeps,
  input: VoiceSessionInput,
  start: LiveStart,
): SocketSession {
  const { pipeline: _pipeline, sessionHolds: _holds, release: _release, ...begun } = input;
  const hasGates = deps.speechGates !== undefined;
  const recorder = record(deps, input, { kind: 'live', hasGates, input: begun, start });
  if (recorder === undefined) return createLiveSession(deps, input, start);
  return recorder.driven(stageLive(recorder, deps, input, start));
}

/** Opens a live session at an upstream. Records it when this process records sessions. */
export function openLiveRelay(
  deps: RelayDeps & Pick<VoiceDeps, 'tapes'>,
  input: LiveRelayInput,
): LiveRelay {
  const { sessionHold: _hold, upstream: _upstream, ...begun } = input;
  const recorder = record(deps, input, { kind: 'live-relay', input: begun });
  if (recorder === undefined) return new LiveRelay(deps, input);
  return recorder.driven(stageLiveRelay(recorder, deps, input));
}

/** Opens a live transcription. Records it when this process records sessions. */
export function openTranscribed(deps: VoiceDeps, parts: TranscriptionParts): TranscriptionStream {
  const { heardBy, sessionHold: _hold, ...input } = parts;
  const hasGates = deps.speechGates !== undefined;
  const taped = { kind: 'transcription', input, heardBy: heardBy.kind, hasGates } as const;
  const recorder = record(deps, parts, taped);
  if (recorder === undefined) return createTranscription(deps, parts);
  return recorder.driven(stageTranscription(recorder, deps, parts));
}

/** Builds the session again, with all its dependencies behind a stage. */
export function stageRealtime(
  stage: RecordingStage,
  deps: VoiceSessionDeps,
  input: VoiceSessionInput,
): SocketSession {
  const staged = stageVoice(stage, deps, input);
  return createRealtimeSession(staged.deps, staged.input);
}

export function stageLive(
  stage: RecordingStage,
  deps: VoiceSessionDeps,
  input: VoiceSessionInput,
  start: LiveStart,
): SocketSession {
  const staged = stageVoice(stage, deps, input);
  return createLiveSession(staged.deps, staged.input, start);
}

/** Returns the dependencies and the input of a voice session, with a stage in front of them. */
export function stageVoice(
  stage: RecordingStage,
  deps: VoiceSessionDeps,
  input: VoiceSessionInput,
): { readonly deps: VoiceSessionDeps; readonly input: VoiceSessionInput } {
  const { engines, speechGates } = deps;
  return {
    deps: {
      ...deps,
      clock: stage.clock,
      random: stage.random,
      engines: { vad: stage.between('vad', engines.vad) },
      speechGates: speechGates && stage.between('gates', speechGates),
    },
    input: {
      ...input,
      sessionHolds: stage.between('sessionHold', input.sessionHolds),
      pipeline: stage.between('pipeline', input.pipeline),
    },
  };
}

export function stageRelayed(
  stage: RecordingStage,
  deps: RelayDeps,
  input: RelayInput,
): RelaySession {
  const staged = { ...deps, clock: stage.clock, random: stage.random };
  return new RelaySession(staged, stageRelay(stage, input));
}

export function stageLiveRelay(
  stage: RecordingStage,
  deps: RelayDeps,
  input: LiveRelayInput,
): LiveRelay {
  const staged = { ...deps, clock: stage.clock, random: stage.random };
  return new LiveRelay(staged, stageRelay(stage, input));
}

/** Returns the input of a relayed session, with a stage in front of its hold and its upstream. */
const stageRelay = <T extends RelayInput>(stage: RecordingStage, input: T): T => ({
  ...input,
  sessionHold: stage.between('sessionHold', input.sessionHold),
  upstream: stage.between('upstream', input.upstream),
});

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

/** Begins the recording of a session. Returns undefined when this process does not record, or its folder is full. */
export function record(
  { clock, log, random, tapes }: Pick<VoiceDeps, 'clock' | 'log' | 'random' | 'tapes'>,
  { owner }: Pick<VoiceSessionInput, 'owner'>,
  taped: TapedInput,
): Recorder | undefined {
  const sink = tapes?.begin(owner.sessionId);
  return sink && new Recorder({ clock, log, sink, taped, seed: random.bytes(32) });
}
