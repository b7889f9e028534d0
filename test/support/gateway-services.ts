import type { SoundEncoding, TokenCounter, TtsEngine } from '../../src/engines/engine.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import type { Ledger } from '../../src/ledger/rules/ledger.ts';
import type { Catalogue } from '../../src/models/catalogue/catalogue.ts';
import { createProxiedModels } from '../../src/models/catalogue/proxied-models.ts';
import { createChatRails } from '../../src/models/chat/chat-rails.ts';
import { createChatCompletions } from '../../src/models/chat/complete-chat.ts';
import { PromptHolders } from '../../src/models/chat/prompt-holders.ts';
import { createEmbeddings } from '../../src/models/embeddings/buy-embeddings.ts';
import { createEmbeddingRails } from '../../src/models/embeddings/embedding-rails.ts';
import { createMessagesGateway } from '../../src/models/messages/buy-messages.ts';
import { createMessageTokens } from '../../src/models/messages/count-tokens.ts';
import type { ChatRail } from '../../src/models/providers/chat-rail.ts';
import { createSourceRests } from '../../src/models/providers/circuit-breaker.ts';
import type { EmbeddingRail } from '../../src/models/providers/embedding-rail.ts';
import { createLocalSpeechRail } from '../../src/models/providers/local/local-speech.ts';
import type { TranscriptionRail } from '../../src/models/providers/transcription-rail.ts';
import type { UpstreamLimits } from '../../src/models/providers/upstream-pool.ts';
import { createKeptResponses } from '../../src/models/responses/kept/kept-responses.ts';
import { createResponses } from '../../src/models/responses/responses.ts';
import { createResponsesRails } from '../../src/models/responses/responses-rails.ts';
import { createSpeechRails } from '../../src/models/speech/speech-rails.ts';
import { createSpeechSynthesis } from '../../src/models/speech/synthesize-speech.ts';
import { createTranscriptions } from '../../src/models/transcription/transcribe.ts';
import { createTranscriptionRails } from '../../src/models/transcription/transcription-rails.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import type { BudgetReports } from '../../src/spend/awareness/budget-left.ts';
import { NO_ENCODERS } from './no-encoders.ts';
import { plainBudgets } from './plain-budgets.ts';

const aborted = async () => ({ kind: 'aborted' }) as const;
const NOBODY: ChatRail = { stream: aborted, complete: aborted };
const NO_VECTORS: EmbeddingRail = { misfit: () => undefined, embed: aborted };
const NO_EARS: TranscriptionRail = { stream: aborted, transcribe: aborted };
/** A token for each word. */
const WORDS: TokenCounter = { count: async (text) => text.split(/\s+/).length };
const SILENT: TtsEngine = { async *speak() {} };

/** All that the gateway sells, with the engines of the test in place of this server's own. */
export function gatewayServices(options: {
  readonly catalogue: Catalogue;
  readonly ledger: Ledger;
  readonly localGuide?: ChatRail | undefined;
  readonly localEmbedding?: EmbeddingRail | undefined;
  readonly tts?: TtsEngine | undefined;
  readonly tokens?: TokenCounter | undefined;
  readonly encoding?: SoundEncoding | undefined;
  readonly limits?: Partial<UpstreamLimits> | undefined;
  readonly budgets?: BudgetReports | undefined;
  readonly storedKeys?: Readonly<Record<string, string>> | undefined;
  /** Where responses are kept; nowhere, where nothing is said. */
  readonly keptIn?: Sql | undefined;
}) {
  const { catalogue, ledger, limits, budgets = plainBudgets(), storedKeys = {} } = options;
  const { localGuide = NOBODY, localEmbedding = NO_VECTORS, tts = SILENT } = options;
  const { encoding = NO_ENCODERS, tokens = WORDS } = options;
  const shared = { clock: systemClock, random: systemRandom, log: silentLog };
  const opened = { catalogue, ...shared, ...(limits && { limits }) };
  const localSpeech = createLocalSpeechRail({ engine: tts, encoding });
  const chat = createChatRails({ ...opened, localGuide });
  const rails = {
    chat,
    responses: createResponsesRails({ ...opened, chat }),
    embeddings: createEmbeddingRails({ ...opened, local: localEmbedding }),
    speech: createSpeechRails({ ...opened, local: localSpeech, encoding }),
    transcriptions: createTranscriptionRails({ ...opened, local: NO_EARS }),
  };
  const breaker = createSourceRests(shared);
  const usedKeys: string[] = [];
  const providerKeys = {
    find: async (_: string, provider: string) => storedKeys[provider],
    noteUse: async (_: string, provider: string) => void usedKeys.push(provider),
  };
  const promptHolders = new PromptHolders(shared);
  const bought = { promptHolders, catalogue, providerKeys, breaker, ledger, budgets, ...shared };
  const { keptIn: sql } = options;
  const kept = createKeptResponses({
    ...shared,
    sql: sql as Sql,
    keptDays: 30,
    sealingSecret: sql && 's'.repeat(32),
  });
  return {
    /** Providers that were called with a stored key. */
    usedKeys,
    services: {
      catalogue,
      chat: createChatCompletions({ ...bought, rails: rails.chat }),
      messages: createMessagesGateway({ ...bought, rails: rails.responses }),
      messageTokens: createMessageTokens({ ...bought, rails: rails.chat, tokens }),
      responses: createResponses({ ...bought, rails: rails.responses, kept }),
      embeddings: createEmbeddings({ ...bought, rails: rails.embeddings }),
      proxied: createProxiedModels(bought, rails),
      speech: createSpeechSynthesis({ ...bought, rails: rails.speech }),
      transcriptions: createTranscriptions({ ...bought, rails: rails.transcriptions }),
    },
    async [Symbol.asyncDispose]() {
      for (const opened of Object.values(rails)) await opened[Symbol.asyncDispose]();
    },
  };
}
