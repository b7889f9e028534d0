import { within } from '../../kernel/clock.ts';
import type { Model } from '../../models/catalogue/catalogue.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import type { TokenUsage } from '../../models/providers/chat-rail.ts';
import type { SpeechRail } from '../../models/providers/speech-rail.ts';
import { distrust } from '../../models/purchase/attempt.ts';
import { usageAttributes } from '../../models/routing/attempt-span.ts';
import { longestSpeechRaw } from '../../models/speech/speech-usage.ts';
import { holdTurn } from '../billing/hold-turn.ts';
import type { Reserves } from '../billing/session-hold.ts';
import { MAIN_HOLD } from '../billing/session-holds.ts';
import { charsOf, type TurnCap } from '../billing/turn-meter.ts';
import { VOICE_LIMITS } from '../limits.ts';
import { expectedSpeech } from '../session/expected-speech.ts';
import type { SessionConfig } from '../session/session-config.ts';
import type { Tts, VoicePipeline } from '../session/voice-pipeline.ts';
import type { CascadeDeps } from './cascade-deps.ts';
import { createCatalogueLlm, dearestChat, type HoldReserve } from './catalogue-llm.ts';
import { CatalogueTts, LocalTts } from './catalogue-tts.ts';
import { type ChargesByHold, createChargesByHold, requireHeld } from './charges-by-hold.ts';
import { bindModel } from './model-binding.ts';
import {
  type Buying,
  buyingWith,
  createPipelineStage,
  type PipelineStage,
} from './pipeline-stage.ts';
import type { CascadePlan } from './plan-cascade.ts';
import { createTranscriberStage } from './transcriber-stage.ts';

/** Returns the bounds of a turn: the text that the chat model may write, and the characters that may be spoken. */
export const cascadeCap = ({ llm }: CascadePlan): TurnCap => ({
  inputTokens: VOICE_LIMITS.cascade.promptBytes,
  outputTokens: Math.min(llm.maxOutputTokens ?? Infinity, VOICE_LIMITS.cascade.outputTokens),
  spokenChars: VOICE_LIMITS.cascade.spokenChars,
  capsSound: false,
  countsSound: false,
});

/** Returns the upper bound of the tokens of an ordinary turn. */
export const mostTokens = (plan: CascadePlan): TokenUsage => ({
  inputTokens: VOICE_LIMITS.cascade.promptBytes + MODEL_LIMITS.tokens.perMessage,
  cachedTokens: 0,
  outputTokens: cascadeCap(plan).outputTokens,
});

/**
 * Returns a pipeline of the transcriber, LLM and TTS of a plan, each a purchase of its own. Throws the refusal of an unusable
 * model.
 */
export function createCascadePipeline(deps: CascadeDeps): VoicePipeline {
  const { cascades, ownKeys, plan, holdNameOf, sessionHolds } = deps;
  const chargesByHold = createChargesByHold(sessionHolds);
  const buying = buyingWith(deps, chargesByHold);
  const hearing = createTranscriberStage(buying, { usual: plan.stt });
  const speaking = createSpeaking(buying, plan.tts);
  const thinking = bindModel({ model: plan.llm, rails: cascades.chat, ownKeys, holdNameOf });
  const most = mostTokens(plan);
  const reserved = (outputTokens = most.outputTokens) =>
    dearestChat(thinking, { ...most, outputTokens });
  const reserves = (config: SessionConfig, tokens?: number) =>
    sumReserves([reserved(tokens), speaking.reserve(config, tokens), hearing.reserve(config)]);
  return {
    stt: (config) => ({
      takesTurns: hearing.transcriber(config).takesTurns === true,
      async open(options) {
        await ownKeys.lookUp(hearing.modelOf(config).id);
        const reservesOf = (tokens: number) => reserves(config, tokens);
        requireHeld((await holdTurn(sessionHolds, reservesOf, most.outputTokens)).verdict);
        return hearing.transcriber(config).open({ ...options, ...expectedSpeech(config) });
      },
    }),
    llm: createCatalogueLlm({
      asking: buying,
      part: thinking,
      reserved: () => reserved(),
      reserves,
      sessionHolds,
    }),
    voice: speaking.stage,
    transcriberModel: (config) => hearing.modelOf(config).id,
    problemOf: hearing.problemOf,
    reserves,
    takeBill: takeBillFrom(buying, chargesByHold),
    paymentsKnown: paymentsKnownIn(deps, chargesByHold),
  };
}

/** Returns a function that waits for payments in progress, up to `MODEL_LIMITS.upstream.paidFirstByteMs`. */
export const paymentsKnownIn =
  ({ clock, log }: Pick<CascadeDeps, 'clock' | 'log'>, chargesByHold: ChargesByHold) =>
  (): Promise<void> =>
    within(clock, MODEL_LIMITS.upstream.paidFirstByteMs, chargesByHold.paymentsKnown(), () =>
      log.warn('a payment is still under way at the end of its session: it has no margin'),
    );

/** Returns a function that takes the finished charges, each once. A source that reports impossible usage is backed off. */
export const takeBillFrom =
  (
    deps: Pick<Buying, 'log' | 'breaker'>,
    chargesByHold: ChargesByHold,
  ): VoicePipeline['takeBill'] =>
  () => {
    const taken = chargesByHold.take();
    for (const { bought } of taken) {
      const { noted, paidRaw, reported, source, span } = bought;
      if (span?.isRecorded) {
        const { brokenBy, isEstimated, usage } = bought;
        const attributed = { isEstimated, tokens: noted?.tokens, note: noted?.note?.() };
        span.end({ attributes: usageAttributes(usage, attributed), error: brokenBy });
      }
      if (reported?.isImpossible && paidRaw === undefined) distrust(deps, source);
    }
    return taken.map(({ bought, sessionHold }) => ({
      source: bought.source,
      sessionHold,
      model: bought.model,
      usage: bought.usage,
      priced: bought.priced,
      reported: bought.reported,
      paidRaw: bought.paidRaw,
      isEstimated: bought.isEstimated,
      isSpeculated: bought.isSpeculated,
    }));
  };

/** Sums reserves by hold. The result always contains the main hold, with 0 when nothing is reserved in it. */
export function sumReserves(reserves: readonly HoldReserve[]): Reserves {
  const sums: Record<string, bigint> = { [MAIN_HOLD]: 0n };
  for (const { sessionHold, raw } of reserves) sums[sessionHold] = (sums[sessionHold] ?? 0n) + raw;
  return sums;
}

const createSpeaking = (deps: Buying, model: Model): PipelineStage<Tts> =>
  createPipelineStage<Tts, SpeechRail>(deps, {
    model,
    engine: 'flite',
    rails: deps.cascades.speech,
    canServe: (rail) => rail.makes('pcm'),
    local: (charges, source) => new LocalTts(deps.engines.tts.flite, charges, source),
    remote: (part) => new CatalogueTts(deps, part),
    boundRaw({ speed }, source, tokens = Number.POSITIVE_INFINITY) {
      const characters = Math.min(VOICE_LIMITS.cascade.spokenChars, charsOf(tokens));
      return longestSpeechRaw({ characters, speed }, source);
    },
  });
