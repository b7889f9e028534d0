import type { SttEngine } from '../../engines/engine.ts';
import type { Model } from '../../gateway/catalogue.ts';
import type { Rails } from '../../gateway/open-rails.ts';
import { holdForRaw } from '../../gateway/plan-offers.ts';
import { speechBoundRaw } from '../../gateway/speech-usage.ts';
import { transcriptionBoundRaw } from '../../gateway/transcription-usage.ts';
import { ApiError } from '../../kernel/api-error.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { ChatRail } from '../../rails/chat-rail.ts';
import type { SourceRests } from '../../rails/rest-failing-source.ts';
import type { SpeechRail } from '../../rails/speech-rail.ts';
import type { TranscriptionRail } from '../../rails/transcription-rail.ts';
import type { Legs } from '../realtime/legs.ts';
import type { SessionConfig } from '../realtime/session-config.ts';
import { RESERVED_MS } from '../realtime/sound-refusals.ts';
import type { TurnCap } from '../realtime/turn-meter.ts';
import type { VoiceDeps } from '../voice-deps.ts';
import { createHolds, type HoldShare } from './hold-share.ts';
import { type CascadePlan, localEngineOf, sellersOf } from './plan-cascade.ts';
import { createRailBrain, dearestChatRaw } from './rail-brain.ts';
import { createLocalEar, createRailEar } from './rail-ear.ts';
import { createLocalVoice, createRailVoice } from './rail-voice.ts';
import { Tab } from './tab.ts';

type CanRail<R> = Pick<Rails<R>, 'railOf'>;

/** What sessions of several models buy with, beside what every live session is made of. */
export type Cascades = {
  readonly chat: CanRail<ChatRail>;
  readonly speech: CanRail<SpeechRail>;
  readonly hearing: CanRail<TranscriptionRail>;
  readonly rests: SourceRests;
};

export type CascadeDeps = Pick<VoiceDeps, 'catalogue' | 'clock' | 'engines' | 'log'> & {
  readonly cascades: Cascades;
  readonly plan: CascadePlan;
  readonly agentId: number;
  /** Holds so much for what is not billed yet, or throws LegFailed. */
  readonly afford: (totalRaw: bigint) => Promise<void>;
  /** Throws LegFailed where the agent's controls leave nothing for a model. */
  readonly admit: (model: Model) => Promise<void>;
  readonly heldRaw: () => bigint;
};

/** The bounds of a turn: what a chat model may write, and what may be spoken of it. */
export const cascadeCap = ({ llm }: CascadePlan): TurnCap => ({
  inputTokens: LIMITS.cascadePromptBytes,
  outputTokens: Math.min(llm.maxOutputTokens ?? Infinity, LIMITS.cascadeOutputTokens),
  spokenChars: LIMITS.cascadeSpokenChars,
  countsSound: false,
});

/** A session's ear, brain and voice out of the models of a plan, each bought by itself. Throws the refusal of one that nobody here can serve. */
export function createCascadeLegs(deps: CascadeDeps): Legs {
  const { afford, cascades, plan } = deps;
  const tab = new Tab();
  const buying = { ...deps, rests: cascades.rests, hold: createHolds(tab, afford), tab };
  const hearing = createHearing(buying);
  const speaking = createSpeaking(buying);
  const { llm } = plan;
  const offersOf = sellersOf(llm, cascades.chat);
  const reservedRaw = dearestChatRaw(offersOf, {
    ...{ cachedTokens: 0, outputTokens: cascadeCap(plan).outputTokens },
    inputTokens: LIMITS.cascadePromptBytes + LIMITS.tokensPerMessage,
  });
  const reserveRaw = (config: SessionConfig) =>
    reservedRaw + speaking.reserveRaw(config) + hearing.reserveRaw(config);
  return {
    ear: (config) => ({
      async open(options) {
        if (hearing.modelOf(config) !== plan.stt) await deps.admit(hearing.modelOf(config));
        await afford(reserveRaw(config));
        return hearing.ear(config).open(options);
      },
    }),
    brain: createRailBrain({ ...buying, model: llm, offersOf, reservedRaw, reserveRaw }),
    voice: speaking.voice,
    transcriber: (config) => hearing.modelOf(config).id,
    problemOf: hearing.problemOf,
    reserveRaw,
    takeBill: () => tab.take(),
  };
}

/** What the legs of a session buy with. */
type Buying = CascadeDeps & {
  readonly rests: SourceRests;
  readonly hold: HoldShare;
  readonly tab: Tab;
};

/** The largest text that a turn may have spoken, for its price: three bytes a character, and no script has more. */
const LONGEST = '\u8a9e'.repeat(LIMITS.cascadeSpokenChars);

function createSpeaking(deps: Buying) {
  const { cascades, engines, hold, plan, tab } = deps;
  const { tts } = plan;
  const bodyOf = ({ speed }: SessionConfig) => ({ model: tts.id, input: LONGEST, speed });
  const source = localEngineOf(tts);
  if (source !== undefined) {
    const voice = createLocalVoice(engines.tts.flite, { hold, source, tab });
    return { voice, reserveRaw: (config: SessionConfig) => speechBoundRaw(bodyOf(config), source) };
  }
  const offersOf = sellersOf(tts, cascades.speech, (rail) => rail.makes('pcm'));
  // Throws the refusal of one that nobody sells.
  offersOf(() => 0n);
  const reserveRaw = (config: SessionConfig) =>
    holdForRaw(offersOf((seller) => speechBoundRaw(bodyOf(config), seller)));
  return { voice: createRailVoice({ ...deps, modelId: tts.id, offersOf }), reserveRaw };
}

const MOST_SOUND = { durationMs: RESERVED_MS, prompt: undefined };

type Hearer = { readonly ear: SttEngine; readonly reserveRaw: bigint };

/** Whoever a session names to make out what is said, and otherwise the one of its plan. */
function createHearing(deps: Buying) {
  const { catalogue, plan } = deps;
  const known = new Map<string, Hearer>([[plan.stt.id, hearerOf(deps, plan.stt)]]);

  /** A name of another maker's kind, such as clients send by default, names nobody here. */
  function modelOf({ transcriptionModel: id }: SessionConfig): Model {
    const named = id === null ? undefined : catalogue.find(id);
    return named?.modality === 'stt' ? named : plan.stt;
  }

  function of(config: SessionConfig): Hearer {
    const model = modelOf(config);
    const hearer = known.get(model.id) ?? hearerOf(deps, model);
    known.set(model.id, hearer);
    return hearer;
  }

  return {
    modelOf,
    ear: (config: SessionConfig) => of(config).ear,
    reserveRaw: (config: SessionConfig) => of(config).reserveRaw,
    problemOf(config: SessionConfig): string | undefined {
      const { transcriptionModel: id } = config;
      if (id === null) return undefined;
      const model = catalogue.find(id);
      if (model?.modality !== 'stt') {
        return id.includes('/') ? `${PATH}: there is no stt model "${id}".` : undefined;
      }
      try {
        of(config);
        return undefined;
      } catch (error) {
        if (error instanceof ApiError) return `${PATH}: ${String(error.fields.message)}`;
        throw error;
      }
    },
  };
}

const PATH = 'session.audio.input.transcription.model';

function hearerOf(deps: Buying, model: Model): Hearer {
  const { cascades, engines, hold, tab } = deps;
  const source = localEngineOf(model);
  if (source?.upstreamModel === 'pocketsphinx') {
    const ear = createLocalEar(engines.stt.pocketsphinx, { hold, source, tab });
    return { ear, reserveRaw: transcriptionBoundRaw(MOST_SOUND, source) };
  }
  // What needs a grammar has none here.
  const offersOf = sellersOf(
    { ...model, sources: model.sources.filter((seller) => seller !== source) },
    cascades.hearing,
  );
  const reserveRaw = holdForRaw(offersOf((seller) => transcriptionBoundRaw(MOST_SOUND, seller)));
  return { ear: createRailEar({ ...deps, offersOf }), reserveRaw };
}
