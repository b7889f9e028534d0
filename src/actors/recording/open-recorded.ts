import { type RealtimeDeps, type RealtimeInput, RealtimeSession } from '../realtime-session.ts';
import { type RelayDeps, type RelayInput, RelaySession } from '../relay-session.ts';
import type { VoiceDeps } from '../voice-deps.ts';
import { Recorder } from './recorder.ts';
import type { Stage } from './stage.ts';
import type { TapedInput } from './tape.ts';

/** A session at the engines of this server, recorded where this process records. */
export function openRealtime(deps: VoiceDeps, input: RealtimeInput): RealtimeSession {
  const { legs: _legs, purse: _purse, ...begun } = input;
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

/** The same session on a stage: all that it talks to stands behind that. */
export function stageRealtime(
  stage: Stage,
  deps: RealtimeDeps,
  input: RealtimeInput,
): RealtimeSession {
  const { engines, speechGates } = deps;
  const staged: RealtimeDeps = {
    ...deps,
    ...{ clock: stage.clock, random: stage.random },
    engines: { vad: stage.between('vad', engines.vad) },
    speechGates: speechGates && stage.between('gates', speechGates),
  };
  const purse = stage.between('purse', input.purse);
  const legs = stage.between('legs', input.legs);
  return new RealtimeSession(staged, { ...input, purse, legs });
}

export function stageRelayed(stage: Stage, deps: RelayDeps, input: RelayInput): RelaySession {
  const staged = { ...deps, clock: stage.clock, random: stage.random };
  const purse = stage.between('purse', input.purse);
  const upstream = stage.between('upstream', input.upstream);
  return new RelaySession(staged, { ...input, purse, upstream });
}

function record(
  { clock, log, random, tapes }: Pick<VoiceDeps, 'clock' | 'log' | 'random' | 'tapes'>,
  { owner }: Pick<RealtimeInput, 'owner'>,
  taped: TapedInput,
): Recorder | undefined {
  const sink = tapes?.begin(owner.sessionId);
  return sink && new Recorder({ clock, log, sink, taped, seed: random.bytes(32) });
}
