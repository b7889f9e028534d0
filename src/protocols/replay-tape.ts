import { loadNoiseSuppressors, type NoiseSuppressors } from '../engines/noise-suppressor.ts';
import { soon } from '../kernel/clock.ts';
import { silentLog } from '../kernel/log.ts';
import { stageRecordedCall, type TapedPhoneCall } from '../phone/calls/recorded/open-live-call.ts';
import { noMetrics } from '../platform/tracing/metrics.ts';
import { createVoiceMetrics } from '../voice/live/voice-metrics.ts';
import { createVoiceSessions } from '../voice/live/voice-sessions.ts';
import { Player, type Replay } from '../voice/recording/player.ts';
import type { Driven } from '../voice/recording/stage.ts';
import type { Tape, TapeHeader } from '../voice/recording/tape.ts';
import {
  type HeardBy,
  stageTranscription,
  type TapedTranscription,
} from './create-transcription.ts';
import { stageLiveRelay, type TapedLiveRelay } from './openai-live/live-relay.ts';
import { stageLive, type TapedLive } from './openai-live/live-session.ts';
import { stageRealtime, type TapedRealtime } from './openai-realtime/realtime-session.ts';
import { stageRelayed, type TapedRelay } from './openai-realtime/relay/relay-session.ts';

/** Start of a recording, with the input of one of the kinds of session that are recorded. */
type Header = TapeHeader &
  (TapedRealtime | TapedPhoneCall | TapedRelay | TapedLive | TapedLiveRelay | TapedTranscription);

/**
 * Replays a recording to the current code of a session and compares the frames that it sends. The clock stands still between
 * arrivals, and nothing outside is called.
 */
export async function replayTape(tape: Tape): Promise<Replay> {
  const player = new Player(tape);
  const header = tape.header as Header;
  const session = stage(player, header, await suppressorsOf(header));
  await pause();
  for (const arrival of tape.arrivals) {
    player.deliver(arrival, session);
    await pause();
    if (player.difference !== undefined) break;
  }
  player.finish();
  return { frames: player.framesSent, difference: player.difference };
}

/** Resolves after all pending work that waits for nothing outside the session. */
const pause = (): Promise<void> => new Promise(soon);

/** Placeholder for a dependency whose results the player replays. */
const PLAYED = {} as never;

/**
 * Returns the noise suppressors for a call that was recorded with noise suppression, so that the same audio in gives the same
 * audio out.
 */
async function suppressorsOf(header: Header): Promise<NoiseSuppressors | undefined> {
  if (header.kind !== 'call') return undefined;
  return header.call.suppressesNoise ? loadNoiseSuppressors() : undefined;
}

function stage(
  player: Player,
  header: Header,
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
  if (header.kind === 'call') {
    return stageRecordedCall(player, { ...heard, noiseSuppressors }, header);
  }
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
