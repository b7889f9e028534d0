import type { SttEngine } from '../../engines/engine.ts';
import type { Model, Source } from '../../models/catalogue/catalogue.ts';
import { refuseUnsold } from '../../models/catalogue/require-model.ts';
import type { TranscriptionRail } from '../../models/providers/transcription-rail.ts';
import type { TurnRail } from '../../models/providers/turns/turn-rail.ts';
import { transcriptionBoundRaw } from '../../models/transcription/transcription-usage.ts';
import { VOICE_LIMITS } from '../limits.ts';
import type { SessionConfig } from '../session/session-config.ts';
import { RESERVED_MS } from '../session/sound-refusals.ts';
import { createFallbackStt } from '../stt/fallback-stt.ts';
import type { CanRail, Cascades } from './cascade-deps.ts';
import { createCatalogueTranscriber, createLocalTranscriber } from './catalogue-transcriber.ts';
import { NotHeld } from './charges-by-hold.ts';
import { type Buying, localStage, type PipelineStage, remoteStage } from './pipeline-stage.ts';
import { createTurnTranscriber } from './turn-transcriber.ts';

/** The local recogniser that transcribes freely. The other local recogniser needs a grammar, which a session does not have. */
export const LOCAL_RECOGNISER = 'pocketsphinx';

type Stage = PipelineStage<SttEngine>;

/**
 * Creates the transcriber of a model. It tries the sources that detect the ends of turns, then the recogniser of this process,
 * then the sources that take whole utterances. A stage that fails is replaced by the next stage.
 */
export function createTranscriber(deps: Buying, model: Model): Stage {
  const turns = turnStage(deps, model);
  const local = localStage<SttEngine>(deps, {
    model,
    engine: LOCAL_RECOGNISER,
    boundRaw,
    local: (charges, source) =>
      createLocalTranscriber(deps.engines.stt.pocketsphinx, charges, source),
  });
  const whole = wholeStage(deps, model);
  const sessions = Array<Stage | undefined>(VOICE_LIMITS.turn.sessions).fill(turns);
  const stages = [...sessions, local, whole].filter((stage) => stage !== undefined);
  const [first] = stages;
  if (first === undefined) throw refuseUnsold(model);
  if (stages.length === 1) return first;
  return {
    reserve: (config, tokens) => dearest(stages, (stage) => stage.reserve(config, tokens)),
    stage: createFallbackStt({
      clock: deps.clock,
      log: deps.log,
      engines: stages.map(({ stage }) => stage),
      isFinal: (cause) => cause instanceof NotHeld,
    }),
  };
}

/**
 * Returns the rails on which a source of a transcription model can be called: rails for turns and rails for whole utterances.
 */
export const hearingRailsOf = ({
  hearing,
  turns,
}: Cascades): CanRail<TurnRail | TranscriptionRail> => ({
  railOf: (source) => turns?.railOf(source) ?? hearing.railOf(source),
});

function boundRaw({ transcriptionPrompt }: SessionConfig, source: Source): bigint {
  const sound = { durationMs: RESERVED_MS, prompt: transcriptionPrompt ?? undefined };
  return transcriptionBoundRaw(sound, source);
}

function turnStage(deps: Buying, model: Model): Stage | undefined {
  const { turns } = deps.cascades;
  if (turns === undefined || !isSold(deps, model, turns)) return undefined;
  return remoteStage<SttEngine, TurnRail>(deps, {
    model,
    boundRaw,
    rails: turns,
    remote: (part) => createTurnTranscriber(deps, part),
  });
}

function wholeStage(deps: Buying, model: Model): Stage | undefined {
  const { hearing, turns } = deps.cascades;
  const rails: CanRail<TranscriptionRail> = {
    railOf(source) {
      // The engine of this process has a stage of its own.
      if (source.provider === 'local' || turns?.railOf(source) !== undefined) return undefined;
      return hearing.railOf(source);
    },
  };
  if (!isSold(deps, model, rails)) return undefined;
  return remoteStage<SttEngine, TranscriptionRail>(deps, {
    model,
    boundRaw,
    rails,
    remote: (part) => createCatalogueTranscriber(deps, part),
  });
}

/** Returns true when the pool or a key of the caller's own offers the model on these rails. */
function isSold({ ownKeys }: Buying, model: Model, rails: CanRail<unknown>): boolean {
  const own = ownKeys.sourcesOf(model.id).map(({ source }) => source);
  const pool = model.sources.filter(({ rail }) => rail !== 'byok');
  return [...own, ...pool].some((source) => rails.railOf(source) !== undefined);
}

/** Returns the largest reserve of any stage in the hold of the first stage. */
function dearest(
  stages: readonly Stage[],
  reserveOf: (stage: Stage) => ReturnType<Stage['reserve']>,
): ReturnType<Stage['reserve']> {
  const [first, ...rest] = stages.map(reserveOf);
  if (first === undefined) throw new Error('a transcriber has a stage');
  const { sessionHold } = first;
  const same = rest.filter((reserve) => reserve.sessionHold === sessionHold);
  return same.reduce((most, reserve) => (reserve.raw > most.raw ? reserve : most), first);
}
