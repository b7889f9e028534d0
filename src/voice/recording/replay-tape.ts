import { soon } from '../../kernel/clock.ts';
import { silentLog } from '../../kernel/log.ts';
import { noMetrics } from '../../kernel/metrics.ts';
import { createVoiceMetrics } from '../session/voice-metrics.ts';
import { createVoiceSessions } from '../session/voice-sessions.ts';
import type { HeardBy } from '../transcription/create-transcription.ts';
import { stageRealtime, stageRelayed, stageTranscription } from './open-recorded.ts';
import { type Difference, Player } from './player.ts';
import type { Driven } from './stage.ts';
import type { Tape, TapeHeader } from './tape.ts';

export type Replay = {
  /** How many frames were sent as they are recorded. */
  readonly frames: number;
  readonly difference: Difference | undefined;
};

/**
 * Plays a recording to the code of a session as it is now, each arrival at its time on a clock that stands still in
 * between, and compares what it sends. Nothing outside is touched; it takes as long as the code does.
 */
export async function replayTape(tape: Tape): Promise<Replay> {
  const player = new Player(tape);
  const session = stage(player, tape.header);
  await pause();
  for (const arrival of tape.arrivals) {
    player.deliver(arrival, session);
    await pause();
    if (player.difference !== undefined) break;
  }
  player.finish();
  return { frames: player.framesSent, difference: player.difference };
}

/** Everything runs that waits for nothing outside. */
const pause = (): Promise<void> => new Promise(soon);

/** Stands for what is played: it is never asked. */
const PLAYED = {} as never;

function stage(player: Player, header: TapeHeader): Driven {
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
  const engines = { vad: PLAYED };
  const heard = { ...deps, engines, speechGates: header.hasGates ? PLAYED : undefined };
  if (header.kind === 'realtime') {
    return stageRealtime(player, heard, {
      ...header.input,
      sessionHolds: PLAYED,
      pipeline: PLAYED,
    });
  }
  const { heardBy: kind, input } = header;
  const heardBy: HeardBy =
    kind === 'upstream' ? { kind, upstream: PLAYED } : { kind, recogniser: PLAYED };
  return stageTranscription(player, heard, { ...input, sessionHold: PLAYED, heardBy });
}
