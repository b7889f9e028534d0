import type { Rails } from '../../gateway/open-rails.ts';
import type { StoredKeys } from '../../gateway/sellers.ts';
import { speechBoundRaw } from '../../gateway/speech-usage.ts';
import { distrust } from '../../gateway/try-sources.ts';
import { within } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Spender } from '../../ledger/ledger.ts';
import type { ChatRail, TokenUsage } from '../../rails/chat-rail.ts';
import type { SourceRests } from '../../rails/rest-failing-source.ts';
import type { SpeechRail } from '../../rails/speech-rail.ts';
import type { TranscriptionRail } from '../../rails/transcription-rail.ts';
import type { Purses, Reserves } from '../purses.ts';
import { MAIN_PURSE } from '../purses.ts';
import { expectedSpeech } from '../realtime/expected-speech.ts';
import { holdTurn } from '../realtime/hold-turn.ts';
import type { Legs, Voice } from '../realtime/legs.ts';
import type { SessionConfig } from '../realtime/session-config.ts';
import { charsOf, type TurnCap } from '../realtime/turn-meter.ts';
import type { VoiceDeps } from '../voice-deps.ts';
import { type Buying, createLeg, type Leg } from './bought-leg.ts';
import { createHearing } from './hearing-leg.ts';
import type { OwnKeys } from './own-keys.ts';
import { createPart, type PurseOf } from './part.ts';
import type { CascadePlan } from './plan-cascade.ts';
import { createPockets, type Pockets, requireHeld } from './pockets.ts';
import { createRailBrain, dearestChat, type Reserve } from './rail-brain.ts';
import { createLocalVoice, createRailVoice } from './rail-voice.ts';

export type CanRail<R> = Pick<Rails<R>, 'railOf'>;

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
  const hearing = createHearing(buying, { usual: plan.stt });
  const speaking = createSpeaking(buying);
  const thinking = createPart({ model: plan.llm, rails: cascades.chat, ownKeys, purseOf });
  const most = mostTokens(plan);
  const reserved = (outputTokens = most.outputTokens) =>
    dearestChat(thinking, { ...most, outputTokens });
  const reserves = (config: SessionConfig, tokens?: number) =>
    sumReserves([reserved(tokens), speaking.reserve(config, tokens), hearing.reserve(config)]);
  return {
    ear: (config) => ({
      async open(options) {
        await ownKeys.lookUp(hearing.modelOf(config).id);
        const reservesOf = (tokens: number) => reserves(config, tokens);
        requireHeld((await holdTurn(purses, reservesOf, most.outputTokens)).verdict);
        return hearing.ear(config).open({ ...options, ...expectedSpeech(config) });
      },
    }),
    brain: createRailBrain({ ...buying, part: thinking, reserved: () => reserved(), reserves }),
    voice: speaking.leg,
    transcriber: (config) => hearing.modelOf(config).id,
    problemOf: hearing.problemOf,
    reserves,
    takeBill: takeBillFrom(buying, pockets),
    paymentsKnown: paymentsKnownIn(deps, pockets),
  };
}

/** Waits for payments under way, as long as one may take. */
export const paymentsKnownIn =
  ({ clock, log }: Pick<CascadeDeps, 'clock' | 'log'>, pockets: Pockets) =>
  (): Promise<void> =>
    within(clock, LIMITS.paidFirstByteMs, pockets.paymentsKnown(), () =>
      log.warn('a payment is still under way at the end of its session: it has no margin'),
    );

/** What is over, once; whoever told of what cannot be rests. */
export const takeBillFrom =
  (deps: Pick<Buying, 'log' | 'rests'>, pockets: Pockets): Legs['takeBill'] =>
  () => {
    const bought = pockets.take();
    for (const { paidRaw, source, told } of bought) {
      if (told?.isImpossible && paidRaw === undefined) distrust(deps, source);
    }
    return bought;
  };

/** The purse that a session is opened with is held by, too, where nothing is to be bought out of it. */
export function sumReserves(reserves: readonly Reserve[]): Reserves {
  const sums: Record<string, bigint> = { [MAIN_PURSE]: 0n };
  for (const { purse, raw } of reserves) sums[purse] = (sums[purse] ?? 0n) + raw;
  return sums;
}

/** The largest text that a turn may have spoken, for its price: three bytes a character, and no script has more. */
const LONGEST = '\u8a9e'.repeat(LIMITS.cascadeSpokenChars);

const createSpeaking = (deps: Buying & Pick<CascadeDeps, 'plan'>): Leg<Voice> =>
  createLeg<Voice, SpeechRail>(deps, {
    ...{ model: deps.plan.tts, engine: 'flite', rails: deps.cascades.speech },
    canServe: (rail) => rail.makes('pcm'),
    local: (at) => createLocalVoice(deps.engines.tts.flite, at),
    remote: (part) => createRailVoice({ ...deps, part }),
    boundRaw({ speed }, source, tokens = Number.POSITIVE_INFINITY) {
      const input = LONGEST.slice(0, charsOf(tokens));
      return speechBoundRaw({ model: deps.plan.tts.id, input, speed }, source);
    },
  });
