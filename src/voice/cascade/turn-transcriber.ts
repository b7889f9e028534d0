import type { SttEngine, TurnBounds } from '../../engines/engine.ts';
import { ENGINE_LIMITS } from '../../engines/limits.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import type { TurnRail, TurnSocket } from '../../models/providers/turns/turn-rail.ts';
import {
  meterTranscription,
  transcriptionBoundRaw,
} from '../../models/transcription/transcription-usage.ts';
import { VOICE_LIMITS } from '../limits.ts';
import { StageFailed } from '../session/voice-pipeline.ts';
import { type AskSourcesDeps, askSources, type StageResponse } from './ask-sources.ts';
import type { ModelBinding } from './model-binding.ts';
import { TurnStream } from './turn-stream.ts';

/** Bounds of turns for sessions in which the client, or silence alone, ends turns. */
const USUAL: TurnBounds = { leastMs: 400, mostMs: 5_000, isEager: false };

type Opened = { readonly turns: TurnSocket; readonly bills: TurnRail['bills'] };

const soundOf = (seconds: number) => ({ durationMs: seconds * 1_000, prompt: undefined });

/**
 * Returns an engine for a model whose sources detect the ends of turns. A source that was lost is not attempted
 * for `VOICE_LIMITS.transcriber.restMs`, unless all other sources were lost, too.
 */
export function createTurnTranscriber(
  deps: AskSourcesDeps,
  part: ModelBinding<TurnRail>,
): SttEngine {
  const lost = new Map<string, number>();
  return {
    takesTurns: true,
    async open({ language, listener, turns: bounds = USUAL }) {
      const { leastMs: leastSilenceMs, mostMs: mostSilenceMs, isEager } = bounds;
      const asked = await askSources<TurnRail, Opened>(deps, {
        part: without(part, lost, deps.clock.monotonicMs()),
        signal: NEVER,
        priceRaw: (source) =>
          transcriptionBoundRaw(soundOf(ENGINE_LIMITS.utterance.committedSeconds), source),
        async ask({ ownKey, rail, source }) {
          const { agentId } = deps.spender;
          const model = source.upstreamModel;
          const wanted = { language, leastSilenceMs, mostSilenceMs, isEager };
          const { bills } = rail;
          const outcome = await rail.connect({ agentId, model, ownKey, ...wanted }, NEVER);
          return outcome.kind === 'completed' ? { ...outcome, bills } : outcome;
        },
      });
      if (asked === undefined) throw new StageFailed('upstream_aborted', 'It is not wanted.');
      const { outcome, share, source, span } = asked;
      // Each utterance is held by itself.
      share.drop();
      span?.stop();
      const { bills, turns } = outcome;
      const hold = holdsOf(part.model.id, asked);
      return new TurnStream({
        clock: deps.clock,
        listener,
        turns,
        bills,
        hold,
        lost: () => {
          lost.set(keyOf(source), deps.clock.monotonicMs() + VOICE_LIMITS.transcriber.restMs);
        },
      });
    },
  };
}

const NEVER = new AbortController().signal;

const keyOf = ({ provider, rail, upstreamModel }: Source): string =>
  `${rail} ${provider}/${upstreamModel}`;

/** Returns the model without the sources that were lost recently, or with all sources when every source was lost recently. */
function without(
  part: ModelBinding<TurnRail>,
  lost: ReadonlyMap<string, number>,
  nowMs: number,
): ModelBinding<TurnRail> {
  return {
    model: part.model,
    ownKeys: part.ownKeys,
    stages(priceRaw) {
      const all = part.stages(priceRaw);
      const left = all.flatMap(({ offers, sessionHold }) => {
        const [first, ...rest] = offers.filter(
          ({ source }) => (lost.get(keyOf(source)) ?? 0) <= nowMs,
        );
        return first === undefined ? [] : [{ sessionHold, offers: [first, ...rest] as const }];
      });
      const [first, ...rest] = left;
      return first === undefined ? all : [first, ...rest];
    },
  };
}

/**
 * Returns a function that holds and charges utterances of one session at a source. The first charge ends the span of the
 * session's opening.
 */
function holdsOf(model: string, { hold, source, span, tab }: StageResponse<Opened>) {
  let opening = span;
  return async (seconds: number) => {
    const share = await hold(transcriptionBoundRaw(soundOf(seconds), source));
    return {
      charge(charged: number) {
        const told = { seconds: charged, tokens: null };
        const { usage } = meterTranscription(soundOf(charged), told, source);
        tab.add({ source, model, usage, span: opening });
        opening = undefined;
      },
      drop: () => share.drop(),
    };
  };
}
