import type { ProviderKeys } from '../../accounts/provider-keys/provider-keys.ts';
import { startWorkers } from '../../kernel/schedule.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import { createProxiedModels } from '../../models/catalogue/proxied-models.ts';
import { createChatRails } from '../../models/chat/chat-rails.ts';
import { createChatCompletions } from '../../models/chat/complete-chat.ts';
import { PromptHolders } from '../../models/chat/prompt-holders.ts';
import { createEmbeddings } from '../../models/embeddings/buy-embeddings.ts';
import { createEmbeddingRails } from '../../models/embeddings/embedding-rails.ts';
import { createMessagesGateway } from '../../models/messages/buy-messages.ts';
import { createMessageTokens } from '../../models/messages/count-tokens.ts';
import { createSourceRests } from '../../models/providers/circuit-breaker.ts';
import { createLocalEmbeddingRail } from '../../models/providers/local/local-embedding.ts';
import { createLocalGuideRail } from '../../models/providers/local/local-guide.ts';
import { createLocalSpeechRail } from '../../models/providers/local/local-speech.ts';
import { createLocalTranscriptionRail } from '../../models/providers/local/local-transcription.ts';
import type { PaidCalls } from '../../models/providers/paid-calls.ts';
import { createResponseForgetter } from '../../models/responses/kept/forget-responses.ts';
import { createKeptResponses } from '../../models/responses/kept/kept-responses.ts';
import { createResponses } from '../../models/responses/responses.ts';
import { createResponsesRails } from '../../models/responses/responses-rails.ts';
import { createRateLimitAdvisory } from '../../models/routing/rate-limit-advisory.ts';
import { createSpeechRails } from '../../models/speech/speech-rails.ts';
import { createSpeechSynthesis } from '../../models/speech/synthesize-speech.ts';
import { createTranscriptions } from '../../models/transcription/transcribe.ts';
import { createTranscriptionRails } from '../../models/transcription/transcription-rails.ts';
import {
  createListenRails,
  createLiveRails,
  createRealtimeRails,
  createTurnRails,
} from '../../protocols/realtime-rails.ts';
import type { BudgetReports } from '../../spend/awareness/budget-left.ts';
import type { LedgerParts } from './build-ledger.ts';
import type { VoiceParts } from './build-voice.ts';
import type { World } from './world.ts';

export type GatewayParts = Pick<LedgerParts, 'ledger'> & {
  readonly voice: VoiceParts;
  readonly budgets: BudgetReports;
  /** Pays sources for single calls (x402). Undefined when this server cannot make such payments. */
  readonly paidCalls: PaidCalls | undefined;
  readonly providerKeys: ProviderKeys;
  readonly locals: LocalSound;
};

/** The local speech and transcription engines, as sources of models. */
export type LocalSound = ReturnType<typeof buildLocalSound>;

export const buildLocalSound = ({ engines, speechGates }: VoiceParts) => ({
  speech: createLocalSpeechRail({ engine: engines.tts.flite, encoding: engines.encoding }),
  hearing: createLocalTranscriptionRail({ engines, gates: speechGates }),
});

/** Builds the gateway: its rails, its circuit breaker and its stores. */
export function buildGateway(
  world: World,
  { ledger, voice, budgets, paidCalls, providerKeys, locals }: GatewayParts,
  teardown: Teardown,
) {
  const { catalogue, clock, settings } = world;
  const { callerFacts, engines } = voice;
  const localGuide = createLocalGuideRail({ ...world, guide: engines.guide, callerFacts });
  const rails = teardown.use('rails', createChatRails({ catalogue, localGuide, clock, paidCalls }));
  const answering = createResponsesRails({ catalogue, chat: rails, clock });
  teardown.use('responses rails', answering);
  const local = createLocalEmbeddingRail({ engine: engines.embedding.useLite });
  const vectors = createEmbeddingRails({ catalogue, local, clock, paidCalls });
  teardown.use('embedding rails', vectors);
  const { encoding } = engines;
  const spoken = { catalogue, local: locals.speech, encoding, clock, paidCalls };
  const speechRails = createSpeechRails(spoken);
  teardown.use('speech rails', speechRails);
  const hearing = createTranscriptionRails({ ...world, local: locals.hearing, paidCalls });
  teardown.use('transcription rails', hearing);
  const breaker = createSourceRests({ clock });
  const rateLimitAdvisory = createRateLimitAdvisory({ clock, ...settings.rateLimitAdvisory });
  const promptHolders = new PromptHolders({ clock });
  const bought = { ...world, providerKeys, breaker, ledger, budgets, rateLimitAdvisory };
  const shared = { ...bought, promptHolders };
  const realtimeRails = teardown.use('realtime rails', createRealtimeRails(world));
  const liveRails = teardown.use('live rails', createLiveRails(world));
  const listenRails = teardown.use('listen rails', createListenRails(world));
  const turns = teardown.use('turn rails', createTurnRails(world));
  const kept = buildKeptResponses(world, teardown);
  return {
    /** Rails of live sessions, each over a socket to its upstream. */
    relays: {
      realtime: { rails: realtimeRails, breaker, providerKeys },
      live: { rails: liveRails, breaker, providerKeys },
      listen: { rails: listenRails, breaker, providerKeys },
    },
    cascades: { chat: rails, speech: speechRails, hearing, turns, breaker, providerKeys },
    services: {
      catalogue,
      embeddings: createEmbeddings({ ...shared, rails: vectors }),
      transcriptions: createTranscriptions({ ...shared, rails: hearing }),
      chat: createChatCompletions({ ...shared, rails }),
      messages: createMessagesGateway({ ...shared, rails: answering }),
      messageTokens: createMessageTokens({ ...shared, rails, tokens: engines.tokens }),
      responses: createResponses({ ...shared, rails: answering, kept }),
      proxied: createProxiedModels(shared, { chat: rails, embeddings: vectors }),
      speech: createSpeechSynthesis({ ...shared, rails: speechRails }),
    },
  };
}

/** Builds the store of responses that agents may read again, and starts the worker that deletes expired responses. */
function buildKeptResponses(world: World, teardown: Teardown) {
  const { providerKeySecret: sealingSecret, responseDays: keptDays } = world.settings;
  teardown.use('response forgetter', startWorkers(world, [createResponseForgetter(world)]));
  return createKeptResponses({ ...world, sealingSecret, keptDays });
}
