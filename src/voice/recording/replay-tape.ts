import {
  loadNoiseSuppressors,
  type NoiseSuppressors,
} from '../../engines/noise/noise-suppressor.ts';
import { soon } from '../../kernel/clock.ts';
import { silentLog } from '../../kernel/log.ts';
import { noMetrics } from '../../kernel/metrics.ts';
import { createVoiceMetrics } from '../live/voice-metrics.ts';
import { createVoiceSessions } from '../live/voice-sessions.ts';
import type { HeardBy } from '../protocols/create-transcription.ts';
import type { VoiceSessionDeps } from '../session/voice-session-input.ts';
import {
  stageLive,
  stageLiveRelay,
  stageRealtime,
  stageRelayed,
  stageTranscription,
} from './open-recorded.ts';
import { Player, type ReplayDifference } from './player.ts';
import type { Driven, RecordingStage } from './stage.ts';
import type { Tape, TapeHeader } from './tape.ts';

export type Replay = {
  /** Number of frames that the replay sent as recorded. */
  readonly frames: number;
  readonly difference: ReplayDifference | undefined;
};

/**
 * Replays a recording to the current code of a session and compares the frames that it sends. The clock stands still between
 * arrivals, and nothing outside is called. Throws for the recording of a phone call without `stageCall`.
 */
export async function replayTape(tape: Tape, stageCall: StageCall = noCalls): Promise<Replay> {
  const player = new Player(tape);
  const session = stage(player, tape.header, stageCall, await suppressorsOf(tape.header));
  await pause();
  for (const arrival of tape.arrivals) {
    player.deliver(arrival, session);
    await pause();
    if (player.difference !== undefined) break;
  }
  player.finish();
  return { frames: player.framesSent, difference: player.difference };
}

export type CallHeader = Extract<TapeHeader, { kind: 'call' }>;

/** Builds a recorded phone call behind a stage. Passed as an argument, because this folder does not depend on phone calls. */
export type StageCall = (
  stage: RecordingStage,
  deps: VoiceSessionDeps,
  header: CallHeader,
) => Driven;

const noCalls: StageCall = () => {
  throw new Error('This is the recording of a phone call, which is not replayed here.');
};

/** Resolves after all pending work that waits for nothing outside the session. */
const pause = (): Promise<void> => new Promise(soon);

/** Placeholder for a dependency whose results the player replays. */
const PLAYED = {} as never;

/**
 * Returns the noise suppressors for a call that was recorded with noise suppression, so that the same audio in gives the same
 * audio out.
 */
async function suppressorsOf(header: TapeHeader): Promise<NoiseSuppressors | undefined> {
  if (header.kind !== 'call') return undefined;
  const { suppressesNoise } = header.call as { readonly suppressesNoise?: boolean };
  return suppressesNoise ? loadNoiseSuppressors() : undefined;
}

function stage(
  player: Player,
  header: TapeHeader,
  stageCall: StageCall,
  noiseSuppressors: NoiseSuppressors | undefined,
): Driven {
  const { clock, random } = player;
  const deps = {
    clock,
    random,
    log: silentLog,
    sessions: createVoiceSessions({ clock }),
    metrics: createVoiceMetrics(noMetrics, () => 1),
  };
  if (header.kind === 'relay') {
    return stageRelayed(player, deps, { ...header.input, sessionHold: PLAYED, upstream: PLAYED });
  }
  if (header.kind === 'live-relay') {
    return stageLiveRelay(player, deps, { ...header.input, sessionHold: PLAYED, upstream: PLAYED });
  }
  const engines = { vad: PLAYED };
  const heard = { ...deps, engines, speechGates: header.hasGates ? PLAYED : undefined };
  if (header.kind === 'call') return stageCall(player, { ...heard, noiseSuppressors }, header);
  if (header.kind === 'realtime' || header.kind === 'live') {
    const input = { ...header.input, sessionHolds: PLAYED, pipeline: PLAYED };
    return header.kind === 'realtime'
      ? stageRealtime(player, heard, input)
      : stageLive(player, heard, input, header.start);
  }
  const { heardBy: kind, input } = header;
  const heardBy: HeardBy =
    kind === 'upstream' ? { kind, upstream: PLAYED } : { kind, recogniser: PLAYED };
  return stageTranscription(player, heard, { ...input, sessionHold: PLAYED, heardBy });
}
