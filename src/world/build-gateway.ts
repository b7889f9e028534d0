import type { BudgetReports } from '../controls/budget-left.ts';
import { createEmbeddings } from '../gateway/buy-embeddings.ts';
import { createChatRails } from '../gateway/chat-rails.ts';
import { createChatCompletions } from '../gateway/complete-chat.ts';
import { createEmbeddingRails } from '../gateway/embedding-rails.ts';
import { createProxiedModels } from '../gateway/proxied-models.ts';
import { createRateLimitAdvisory } from '../gateway/rate-limit-advisory.ts';
import { createListenRails, createRealtimeRails } from '../gateway/realtime-rails.ts';
import { createSpeechRails } from '../gateway/speech-rails.ts';
import { createSpeechSynthesis } from '../gateway/synthesize-speech.ts';
import { createTranscriptions } from '../gateway/transcribe.ts';
import { createTranscriptionRails } from '../gateway/transcription-rails.ts';
import type { Teardown } from '../kernel/teardown.ts';
import type { ProviderKeys } from '../provider-keys/provider-keys.ts';
import { createLocalEmbeddingRail } from '../rails/local-embedding.ts';
import { createLocalGuideRail } from '../rails/local-guide.ts';
import { createLocalSpeechRail } from '../rails/local-speech.ts';
import { createLocalTranscriptionRail } from '../rails/local-transcription.ts';
import type { PaidCalls } from '../rails/paid-calls.ts';
import { createSourceRests } from '../rails/rest-failing-source.ts';
import type { LedgerParts } from './build-ledger.ts';
import type { VoiceParts } from './build-voice.ts';
import type { World } from './world.ts';

export type GatewayParts = Pick<LedgerParts, 'ledger'> & {
  readonly voice: VoiceParts;
  readonly budgets: BudgetReports;
  /** Undefined: nobody can be paid call by call here. */
  readonly paidCalls: PaidCalls | undefined;
  readonly providerKeys: ProviderKeys;
};

/** The gateway: its rails, and the rest that a failing source is given. */
export function buildGateway(
  world: World,
  { ledger, voice, budgets, paidCalls, providerKeys }: GatewayParts,
  teardown: Teardown,
) {
  const { catalogue, clock, settings } = world;
  const { callerFacts, engines } = voice;
  const localGuide = createLocalGuideRail({ ...world, guide: engines.guide, callerFacts });
  const rails = teardown.use('rails', createChatRails({ catalogue, localGuide, clock, paidCalls }));
  const local = createLocalEmbeddingRail({ engine: engines.embedding.useLite });
  const vectors = createEmbeddingRails({ catalogue, local, clock, paidCalls });
  teardown.use('embedding rails', vectors);
  const localSpeech = createLocalSpeechRail({
    engine: engines.tts.flite,
    encoding: engines.encoding,
  });
  const speechRails = createSpeechRails({ catalogue, localSpeech, clock, paidCalls });
  teardown.use('speech rails', speechRails);
  const ears = createLocalTranscriptionRail({ engines, gates: voice.speechGates });
  const hearing = createTranscriptionRails({ ...world, local: ears, paidCalls });
  teardown.use('transcription rails', hearing);
  const rests = createSourceRests({ clock });
  const rateLimitAdvisory = createRateLimitAdvisory({ clock, ...settings.rateLimitAdvisory });
  const shared = { ...world, providerKeys, rests, ledger, budgets, rateLimitAdvisory };
  const realtimeRails = teardown.use('realtime rails', createRealtimeRails(world));
  const listenRails = teardown.use('listen rails', createListenRails(world));
  return {
    /** What is served live is bought on a socket. */
    relays: {
      realtime: { rails: realtimeRails, rests, providerKeys },
      listen: { rails: listenRails, rests, providerKeys },
    },
    cascades: { chat: rails, speech: speechRails, hearing, rests, providerKeys },
    services: {
      catalogue,
      embeddings: createEmbeddings({ ...shared, rails: vectors }),
      transcriptions: createTranscriptions({ ...shared, rails: hearing }),
      chat: createChatCompletions({ ...shared, rails }),
      proxied: createProxiedModels(shared, { chat: rails, embeddings: vectors }),
      speech: createSpeechSynthesis({ ...shared, rails: speechRails }),
    },
  };
}
