import type { BudgetReports } from '../../src/controls/budget-left.ts';
import type { TtsEngine } from '../../src/engines/engine.ts';
import { createEmbeddings } from '../../src/gateway/buy-embeddings.ts';
import type { Catalogue } from '../../src/gateway/catalogue.ts';
import { createChatRails } from '../../src/gateway/chat-rails.ts';
import { createChatCompletions } from '../../src/gateway/complete-chat.ts';
import { createEmbeddingRails } from '../../src/gateway/embedding-rails.ts';
import { createProxiedModels } from '../../src/gateway/proxied-models.ts';
import { createSpeechRails } from '../../src/gateway/speech-rails.ts';
import { createSpeechSynthesis } from '../../src/gateway/synthesize-speech.ts';
import { createTranscriptions } from '../../src/gateway/transcribe.ts';
import { createTranscriptionRails } from '../../src/gateway/transcription-rails.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { ChatRail } from '../../src/rails/chat-rail.ts';
import type { EmbeddingRail } from '../../src/rails/embedding-rail.ts';
import { createLocalSpeechRail } from '../../src/rails/local-speech.ts';
import { createSourceRests } from '../../src/rails/rest-failing-source.ts';
import type { TranscriptionRail } from '../../src/rails/transcription-rail.ts';
import type { UpstreamLimits } from '../../src/rails/upstream-pool.ts';
import { NO_ENCODERS } from './no-encoders.ts';
import { plainBudgets } from './plain-budgets.ts';

const aborted = async () => ({ kind: 'aborted' }) as const;
const NOBODY: ChatRail = { stream: aborted, complete: aborted };
const NO_VECTORS: EmbeddingRail = { misfit: () => undefined, embed: aborted };
const NO_EARS: TranscriptionRail = { stream: aborted, transcribe: aborted };
const SILENT: TtsEngine = { async *speak() {} };

/** All that the gateway sells, with the engines of the test in place of this server's own. */
export function gatewayServices(options: {
  readonly catalogue: Catalogue;
  readonly ledger: Ledger;
  readonly localGuide?: ChatRail | undefined;
  readonly localEmbedding?: EmbeddingRail | undefined;
  readonly tts?: TtsEngine | undefined;
  readonly limits?: Partial<UpstreamLimits> | undefined;
  readonly budgets?: BudgetReports | undefined;
  readonly storedKeys?: Readonly<Record<string, string>> | undefined;
}) {
  const { catalogue, ledger, limits, budgets = plainBudgets(), storedKeys = {} } = options;
  const { localGuide = NOBODY, localEmbedding = NO_VECTORS, tts = SILENT } = options;
  const shared = { clock: systemClock, random: systemRandom, log: silentLog };
  const opened = { catalogue, ...shared, ...(limits && { limits }) };
  const localSpeech = createLocalSpeechRail({ engine: tts, encoding: NO_ENCODERS });
  const rails = {
    chat: createChatRails({ ...opened, localGuide }),
    embeddings: createEmbeddingRails({ ...opened, local: localEmbedding }),
    speech: createSpeechRails({ ...opened, localSpeech }),
    transcriptions: createTranscriptionRails({ ...opened, local: NO_EARS }),
  };
  const rests = createSourceRests(shared);
  const usedKeys: string[] = [];
  const providerKeys = {
    find: async (_: string, provider: string) => storedKeys[provider],
    noteUse: async (_: string, provider: string) => void usedKeys.push(provider),
  };
  const bought = { catalogue, providerKeys, rests, ledger, budgets, ...shared };
  return {
    /** Providers that were called with a stored key. */
    usedKeys,
    services: {
      catalogue,
      chat: createChatCompletions({ ...bought, rails: rails.chat }),
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
