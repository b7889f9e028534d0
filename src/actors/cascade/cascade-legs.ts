import type { SttEngine } from '../../engines/engine.ts';
import type { Model, Source } from '../../gateway/catalogue.ts';
import type { Rails } from '../../gateway/open-rails.ts';
import { holdForRaw } from '../../gateway/plan-offers.ts';
import type { StoredKeys } from '../../gateway/sellers.ts';
import { speechBoundRaw } from '../../gateway/speech-usage.ts';
import { transcriptionBoundRaw } from '../../gateway/transcription-usage.ts';
import { ApiError } from '../../kernel/api-error.ts';
import { within } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Spender } from '../../ledger/ledger.ts';
import type { ChatRail, TokenUsage } from '../../rails/chat-rail.ts';
import type { SourceRests } from '../../rails/rest-failing-source.ts';
import type { SpeechRail } from '../../rails/speech-rail.ts';
import type { TranscriptionRail } from '../../rails/transcription-rail.ts';
import type { Purses, Reserves } from '../purses.ts';
import { MAIN_PURSE } from '../purses.ts';
import { expectedSpeech, foreignSpeech } from '../realtime/expected-speech.ts';
import type { Legs, Voice } from '../realtime/legs.ts';
import type { ConfigProblem, SessionConfig } from '../realtime/session-config.ts';
import { RESERVED_MS } from '../realtime/sound-refusals.ts';
import type { TurnCap } from '../realtime/turn-meter.ts';
import type { VoiceDeps } from '../voice-deps.ts';
import type { OwnKeys } from './own-keys.ts';
import { createPart, type Part, type PurseOf } from './part.ts';
import { type CascadePlan, localEngineOf } from './plan-cascade.ts';
import { createPockets, type Pocket, type Pockets, requireHeld } from './pockets.ts';
import { createRailBrain, dearestChat, type Reserve } from './rail-brain.ts';
import { createLocalEar, createRailEar } from './rail-ear.ts';
import { createLocalVoice, createRailVoice } from './rail-voice.ts';

type CanRail<R> = Pick<Rails<R>, 'railOf'>;

/** What sessions of several models buy with, beside what every live session is made of. */
export type Cascades = {
  readonly chat: CanRail<ChatRail>;
  readonly speech: CanRail<SpeechRail>;
  readonly hearing: CanRail<TranscriptionRail>;
  readonly rests: SourceRests;
  readonly providerKeys: StoredKeys;
};

export type CascadeDeps = Pick<VoiceDeps, 'catalogue' | 'clock' | 'engines' | 'log' | 'random'> & {
  readonly cascades: Cascades;
  readonly plan: CascadePlan;
  readonly spender: Spender;
  readonly purses: Pick<Purses, 'heldRaw' | 'spentRaw' | 'hold' | 'holdQuietly' | 'makeWhole'>;
  readonly ownKeys: OwnKeys;
  readonly purseOf: PurseOf;
};

/** The bounds of a turn: what a chat model may write, and what may be spoken of it. */
export const cascadeCap = ({ llm }: CascadePlan): TurnCap => ({
  inputTokens: LIMITS.cascadePromptBytes,
  outputTokens: Math.min(llm.maxOutputTokens ?? Infinity, LIMITS.cascadeOutputTokens),
  spokenChars: LIMITS.cascadeSpokenChars,
  countsSound: false,
});

/** Of an ordinary turn. */
export const mostTokens = (plan: CascadePlan): TokenUsage => ({
  inputTokens: LIMITS.cascadePromptBytes + LIMITS.tokensPerMessage,
  ...{ cachedTokens: 0, outputTokens: cascadeCap(plan).outputTokens },
});

/** A session's ear, brain and voice out of the models of a plan, each bought by itself. Throws the refusal of one that nobody here can serve. */
export function createCascadeLegs(deps: CascadeDeps): Legs {
  const { cascades, ownKeys, plan, purseOf, purses } = deps;
  const pockets = createPockets(purses);
  const buying = { ...deps, rests: cascades.rests, pocketOf: pockets.of };
  const hearing = createHearing(buying);
  const speaking = createSpeaking(buying);
  const thinking = createPart({ model: plan.llm, rails: cascades.chat, ownKeys, purseOf });
  const reserved = () => dearestChat(thinking, mostTokens(plan));
  const reserves = (config: SessionConfig) =>
    sumReserves([reserved(), speaking.reserve(config), hearing.reserve(config)]);
  return {
    ear: (config) => ({
      async open(options) {
        await ownKeys.lookUp(hearing.modelOf(config).id);
        requireHeld(await purses.makeWhole(reserves(config)));
        return hearing.ear(config).open({ ...options, ...expectedSpeech(config) });
      },
    }),
    brain: createRailBrain({ ...buying, part: thinking, reserved, reserves }),
    voice: speaking.leg,
    transcriber: (config) => hearing.modelOf(config).id,
    problemOf: hearing.problemOf,
    reserves,
    takeBill: () => pockets.take(),
    paymentsKnown: () =>
      within(deps.clock, LIMITS.paidFirstByteMs, pockets.paymentsKnown(), () =>
        deps.log.warn('a payment is still under way at the end of its session: it has no margin'),
      ),
  };
}

/** The purse that a session is opened with is held by, too, where nothing is to be bought out of it. */
function sumReserves(reserves: readonly Reserve[]): Reserves {
  const sums: Record<string, bigint> = { [MAIN_PURSE]: 0n };
  for (const { purse, raw } of reserves) sums[purse] = (sums[purse] ?? 0n) + raw;
  return sums;
}

/** What the legs of a session buy with. */
type Buying = CascadeDeps & { readonly rests: SourceRests; readonly pocketOf: Pockets['of'] };

/** One that does a part, and what is held for an ordinary turn of it. */
type Leg<L> = { readonly leg: L; readonly reserve: (config: SessionConfig) => Reserve };

/** The engine of this process that a model is, or whoever sells it. Throws the refusal of one that nobody does. */
function createLeg<L, R>(
  { ownKeys, pocketOf, purseOf }: Buying,
  way: {
    readonly model: Model;
    /** The engine that can do this part as it is; of others what is local is no use. */
    readonly engine: string;
    readonly local: (at: Pocket & { readonly source: Source }) => L;
    readonly rails: CanRail<R>;
    readonly canServe?: (rail: R) => boolean;
    readonly remote: (part: Part<R>) => L;
    readonly boundRaw: (config: SessionConfig, source: Source) => bigint;
  },
): Leg<L> {
  const { boundRaw, engine, model } = way;
  const source = localEngineOf(model);
  if (source?.upstreamModel === engine) {
    const purse = purseOf(model, source);
    const leg = way.local({ ...pocketOf(purse), source });
    return { leg, reserve: (config) => ({ purse, raw: boundRaw(config, source) }) };
  }
  const sources = model.sources.filter((seller) => seller !== source);
  const part = createPart({ ...way, model: { ...model, sources }, ownKeys, purseOf });
  part.stages(() => 0n);
  return {
    leg: way.remote(part),
    reserve(config) {
      const [{ offers, purse }] = part.stages((seller) => boundRaw(config, seller));
      return { purse, raw: holdForRaw(offers) };
    },
  };
}

/** The largest text that a turn may have spoken, for its price: three bytes a character, and no script has more. */
const LONGEST = '\u8a9e'.repeat(LIMITS.cascadeSpokenChars);

const createSpeaking = (deps: Buying): Leg<Voice> =>
  createLeg<Voice, SpeechRail>(deps, {
    ...{ model: deps.plan.tts, engine: 'flite', rails: deps.cascades.speech },
    canServe: (rail) => rail.makes('pcm'),
    local: (at) => createLocalVoice(deps.engines.tts.flite, at),
    remote: (part) => createRailVoice({ ...deps, part }),
    boundRaw: ({ speed }, source) =>
      speechBoundRaw({ model: deps.plan.tts.id, input: LONGEST, speed }, source),
  });

/** What hears in this process; what needs a grammar has none here. */
const LOCAL_EAR = 'pocketsphinx';

const createHearer = (deps: Buying, model: Model): Leg<SttEngine> =>
  createLeg<SttEngine, TranscriptionRail>(deps, {
    ...{ model, engine: LOCAL_EAR, rails: deps.cascades.hearing },
    local: (at) => createLocalEar(deps.engines.stt.pocketsphinx, at),
    remote: (part) => createRailEar({ ...deps, part }),
    boundRaw({ transcriptionPrompt }, source) {
      const sound = { durationMs: RESERVED_MS, prompt: transcriptionPrompt ?? undefined };
      return transcriptionBoundRaw(sound, source);
    },
  });

/** Whoever a session names to make out what is said, and otherwise the one of its plan. */
function createHearing(deps: Buying) {
  const { catalogue, plan } = deps;
  const known = new Map([[plan.stt.id, createHearer(deps, plan.stt)]]);

  /** A name of another maker's kind, such as clients send by default, names nobody here. */
  function modelOf({ transcriptionModel: id }: SessionConfig): Model {
    const named = id === null || id === plan.stt.id ? undefined : catalogue.find(id);
    return named?.modality === 'stt' ? named : plan.stt;
  }

  function of(config: SessionConfig): Leg<SttEngine> {
    const model = modelOf(config);
    const hearer = known.get(model.id) ?? createHearer(deps, model);
    known.set(model.id, hearer);
    return hearer;
  }

  function unknownModel(config: SessionConfig): ConfigProblem | undefined {
    const { transcriptionModel: id } = config;
    if (id === null || id === plan.stt.id) return undefined;
    const model = catalogue.find(id);
    if (model?.modality !== 'stt') {
      return id.includes('/') ? problem(`there is no stt model "${id}".`) : undefined;
    }
    try {
      of(config);
      return undefined;
    } catch (error) {
      if (error instanceof ApiError) return problem(String(error.fields.message));
      throw error;
    }
  }

  return {
    modelOf,
    ear: (config: SessionConfig) => of(config).leg,
    reserve: (config: SessionConfig) => of(config).reserve(config),
    problemOf(config: SessionConfig): ConfigProblem | undefined {
      const model = modelOf(config);
      const isLocal = localEngineOf(model)?.upstreamModel === LOCAL_EAR;
      return unknownModel(config) ?? (isLocal ? foreignSpeech(model.id, config) : undefined);
    },
  };
}

const PATH = 'session.audio.input.transcription.model';
const problem = (why: string): ConfigProblem => ({ param: PATH, message: `${PATH}: ${why}` });
