import type { VoiceDeps } from '../live/voice-deps.ts';
import type { VoiceSessionDeps, VoiceSessionInput } from '../session/voice-session-input.ts';
import { Recorder } from './recorder.ts';
import type { RecordingStage } from './stage.ts';
import type { TapedInput } from './tape.ts';

/** Input of a recorded voice session. */
export type TapedVoice = {
  readonly input: Omit<VoiceSessionInput, 'sessionHolds' | 'pipeline'>;
  readonly hasGates: boolean;
};

/** Begins the recording of a session. Returns undefined when this process does not record, or its folder is full. */
export function record<T extends TapedInput>(
  { clock, log, random, tapes }: Pick<VoiceDeps, 'clock' | 'log' | 'random' | 'tapes'>,
  taped: T,
): Recorder | undefined {
  const sink = tapes?.begin(taped.input.owner.sessionId);
  return sink && new Recorder({ clock, log, sink, taped, seed: random.bytes(32) });
}

/** Returns the part of a voice session's input that its recording stores. */
export function tapedVoice(
  { speechGates }: Pick<VoiceSessionDeps, 'speechGates'>,
  { pipeline: _pipeline, release: _release, sessionHolds: _holds, ...input }: VoiceSessionInput,
): TapedVoice {
  return { hasGates: speechGates !== undefined, input };
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
