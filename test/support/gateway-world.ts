import OpenAI from 'openai';
import type { BudgetReports } from '../../src/controls/budget-left.ts';
import type { TtsEngine } from '../../src/engines/engine.ts';
import { buildCatalogue } from '../../src/gateway/build-catalogue.ts';
import type { ModelEntry, ProviderEntry } from '../../src/gateway/builtin/builtin-model.ts';
import { createEmbeddings } from '../../src/gateway/buy-embeddings.ts';
import { createChatRails } from '../../src/gateway/chat-rails.ts';
import { createChatCompletions } from '../../src/gateway/complete-chat.ts';
import { createEmbeddingRails } from '../../src/gateway/embedding-rails.ts';
import { createSpeechRails } from '../../src/gateway/speech-rails.ts';
import { createSpeechSynthesis } from '../../src/gateway/synthesize-speech.ts';
import { createHttpServer } from '../../src/http/app.ts';
import type { AgentCaller } from '../../src/http/caller.ts';
import type { Credentials } from '../../src/http/credentials.ts';
import { createAnswerKeeper } from '../../src/http/keep-answers.ts';
import { createOutcomeKeeper } from '../../src/http/keep-outcomes.ts';
import type { RateLimits } from '../../src/http/rate-gate.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { noMetrics } from '../../src/kernel/metrics.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { ChatRail } from '../../src/rails/chat-rail.ts';
import type { EmbeddingRail } from '../../src/rails/embedding-rail.ts';
import { createLocalSpeechRail } from '../../src/rails/local-speech.ts';
import { createSourceRests } from '../../src/rails/rest-failing-source.ts';
import type { UpstreamLimits } from '../../src/rails/upstream-pool.ts';
import { speech } from '../../src/routes/audio/speech.ts';
import { chatCompletions } from '../../src/routes/chat/completions.ts';
import { embeddings } from '../../src/routes/embeddings.ts';
import { modelDetail } from '../../src/routes/models/detail.ts';
import { listModels } from '../../src/routes/models/list.ts';
import { memoryKeys } from './fakes/memory-keys.ts';
import { plainBudgets } from './plain-budgets.ts';

export const AGENT_KEY = `svc_${'a'.repeat(64)}`;

export type GatewayWorld = AsyncDisposable & {
  readonly baseUrl: string;
  readonly openai: OpenAI;
  /** A raw request with the agent's key, for what an SDK would not send. */
  request(
    path: string,
    init?: { body?: string | object; headers?: Record<string, string> },
  ): Promise<Response>;
};

/** The gateway's routes behind the real edge, with the catalogue, ledger and limits of the test. */
export async function gatewayWorld(options: {
  readonly ledger: Ledger;
  readonly agentId?: number;
  readonly keyId?: number;
  /** Further agents, each by the key that it calls with. */
  readonly others?: ReadonlyMap<string, { readonly agentId: number; readonly keyId: number }>;
  readonly providers: Readonly<Record<string, ProviderEntry>>;
  readonly models: readonly ModelEntry[];
  readonly localGuide?: ChatRail;
  readonly localEmbedding?: EmbeddingRail;
  readonly tts?: TtsEngine;
  readonly secret?: (name: string) => string | undefined;
  readonly limits?: Partial<UpstreamLimits>;
  readonly rateLimits?: Partial<RateLimits>;
  readonly budgets?: BudgetReports;
}): Promise<GatewayWorld> {
  const { ledger, agentId = 1, keyId = 1, limits, rateLimits, secret = () => undefined } = options;
  const clock = systemClock;
  const catalogue = buildCatalogue({
    providers: new Map(Object.entries(options.providers)),
    models: options.models,
    secret,
  });
  const nobody: ChatRail = {
    stream: async () => ({ kind: 'aborted' }),
    complete: async () => ({ kind: 'aborted' }),
  };
  const localGuide = options.localGuide ?? nobody;
  const rails = createChatRails({ catalogue, localGuide, clock, ...(limits && { limits }) });
  const rests = createSourceRests({ clock });
  const shared = { clock, random: systemRandom, log: silentLog };
  const { budgets = plainBudgets() } = options;
  const chat = createChatCompletions({ catalogue, rails, rests, ledger, budgets, ...shared });
  const local = options.localEmbedding ?? {
    misfit: () => undefined,
    embed: async () => ({ kind: 'aborted' }),
  };
  const vectors = createEmbeddingRails({ catalogue, local, clock, ...(limits && { limits }) });
  const localSpeech = createLocalSpeechRail({ engine: options.tts ?? SILENT });
  const speechRails = createSpeechRails({
    catalogue,
    localSpeech,
    clock,
    ...(limits && { limits }),
  });
  const bought = { catalogue, rests, ledger, budgets, ...shared };
  const embedding = createEmbeddings({ ...bought, rails: vectors });
  const keys = memoryKeys(clock.now, LIMITS.idempotencyWindowMs);
  const outcomes = createOutcomeKeeper({ keys, ...shared });
  const lease = { mayReap: () => true, tick: async () => {} };
  const server = await createHttpServer({
    idempotency: createAnswerKeeper({ keys, outcomes, lease, ...shared }),
    routes: [chatCompletions, embeddings, speech, listModels, modelDetail],
    sockets: [],
    services: {
      ...{ catalogue, chat, embeddings: embedding },
      speech: createSpeechSynthesis({ ...bought, rails: speechRails }),
    },
    credentials: credentialsOf(
      new Map([[AGENT_KEY, { agentId, keyId }], ...(options.others ?? [])]),
    ),
    metrics: noMetrics,
    secureCookies: false,
    ...(rateLimits && { rateLimits }),
    ...shared,
  });
  const port = await server.listen({ host: '127.0.0.1', port: 0 });
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  return {
    baseUrl,
    openai: new OpenAI({ apiKey: AGENT_KEY, baseURL: baseUrl }),
    request(path, { body, headers = {} } = {}) {
      const text = typeof body === 'object' ? JSON.stringify(body) : body;
      return fetch(baseUrl + path, {
        method: text === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${AGENT_KEY}`, ...headers },
        ...(text === undefined ? {} : { body: text }),
      });
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rails[Symbol.asyncDispose]();
      await vectors[Symbol.asyncDispose]();
      await speechRails[Symbol.asyncDispose]();
    },
  };
}

const SILENT: TtsEngine = { async *speak() {} };

function credentialsOf(
  agents: ReadonlyMap<string, { readonly agentId: number; readonly keyId: number }>,
): Credentials {
  const callers = new Map(
    [...agents].map(([key, { agentId, keyId }]): [string, AgentCaller] => [
      key,
      {
        ...{ kind: 'agent', agentId, accountId: 'acct_000000000001', keyId, keyRootId: keyId },
        ...{ permission: 'read_write', status: 'active', operatorExpiry: null },
      },
    ]),
  );
  return {
    developerKey: async () => undefined,
    agentKey: (key) => callers.get(key),
    signature: () => Promise.reject(new Error('no signatures here')),
    session: () => Promise.reject(new Error('no sessions here')),
    isAdminKey: () => false,
  };
}
