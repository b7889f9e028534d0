import OpenAI from 'openai';
import type { TokenCounter, TtsEngine } from '../../src/engines/engine.ts';
import type { Credentials } from '../../src/http/auth/credentials.ts';
import type { AgentCaller } from '../../src/http/route/caller.ts';
import { createHttpServer } from '../../src/http/server/app.ts';
import { createAnswerKeeper } from '../../src/idempotency/keep-answers.ts';
import { createOutcomeKeeper } from '../../src/idempotency/keep-outcomes.ts';
import { IDEMPOTENCY_LIMITS } from '../../src/idempotency/limits.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import type { Ledger } from '../../src/ledger/rules/ledger.ts';
import { buildCatalogue } from '../../src/models/catalogue/build-catalogue.ts';
import type {
  ModelEntry,
  ProviderEntry,
} from '../../src/models/catalogue/builtin/builtin-model.ts';
import type { ChatRail } from '../../src/models/providers/chat-rail.ts';
import type { EmbeddingRail } from '../../src/models/providers/embedding-rail.ts';
import type { UpstreamLimits } from '../../src/models/providers/upstream-pool.ts';
import { MessageQueue } from '../../src/platform/messages/message-queue.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { noMetrics } from '../../src/platform/tracing/metrics.ts';
import type { Tracer } from '../../src/platform/tracing/span.ts';
import type { RateLimits } from '../../src/rate-limit/rate-gate.ts';
import type { RefusalLog } from '../../src/reports/refusals/refusal-log.ts';
import { speech } from '../../src/routes/audio/speech.ts';
import { createTranscription } from '../../src/routes/audio/transcriptions.ts';
import { chatCompletions } from '../../src/routes/chat/completions.ts';
import { embeddings } from '../../src/routes/embeddings.ts';
import { proxiedChat } from '../../src/routes/llm/chat/completions.ts';
import { proxiedEmbeddings } from '../../src/routes/llm/embeddings.ts';
import { countMessageTokens } from '../../src/routes/messages/count-tokens.ts';
import { createMessage } from '../../src/routes/messages/create.ts';
import { modelDetail } from '../../src/routes/models/detail.ts';
import { listModels } from '../../src/routes/models/list.ts';
import { cancelResponse } from '../../src/routes/responses/cancel.ts';
import { createResponse } from '../../src/routes/responses/create.ts';
import { deleteResponse } from '../../src/routes/responses/delete.ts';
import { responseInputItems } from '../../src/routes/responses/input-items.ts';
import { readResponse } from '../../src/routes/responses/read.ts';
import { createResponsesSocket } from '../../src/sockets/responses.ts';
import type { BudgetReports } from '../../src/spend/awareness/budget-left.ts';
import { memoryKeys } from './fakes/memory-keys.ts';
import { gatewayServices } from './gateway-services.ts';

export const AGENT_KEY = `svc_${'a'.repeat(64)}`;

/** An agent's key, which may spend unless it is said otherwise. */
type TestKey = Pick<AgentCaller, 'agentId' | 'keyId'> &
  Partial<Pick<AgentCaller, 'accountId' | 'permission' | 'promptCaching' | 'status'>>;

export type GatewayWorld = AsyncDisposable & {
  readonly baseUrl: string;
  readonly openai: OpenAI;
  /** Providers that were called with a stored key, in turn. */
  readonly usedKeys: readonly string[];
  /** A raw request with the agent's key, for what an SDK would not send. */
  request(
    path: string,
    init?: { body?: string | object; headers?: Record<string, string> },
  ): Promise<Response>;
  /** Stops the server as a process that is told to stop does. */
  drain(graceMs: number): Promise<void>;
};

/** The gateway's routes behind the real edge, with the catalogue, ledger and limits of the test. */
export async function gatewayWorld(options: {
  readonly ledger: Ledger;
  readonly agentId?: number;
  readonly keyId?: number;
  /** Further agents, each by the key that it calls with. */
  readonly others?: ReadonlyMap<string, TestKey>;
  readonly providers: Readonly<Record<string, ProviderEntry>>;
  readonly models: readonly ModelEntry[];
  readonly localGuide?: ChatRail;
  readonly localEmbedding?: EmbeddingRail;
  readonly tts?: TtsEngine;
  readonly tokens?: TokenCounter;
  readonly secret?: (name: string) => string | undefined;
  readonly limits?: Partial<UpstreamLimits>;
  readonly rateLimits?: Partial<RateLimits>;
  readonly budgets?: BudgetReports;
  /** Keys that the agents' developer has stored, by provider. */
  readonly storedKeys?: Readonly<Record<string, string>>;
  /** Where responses are kept, of agents that are there; nowhere, where nothing is said. */
  readonly keptIn?: Sql;
  /** Without one nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Without one no refusal is noted. */
  readonly refusals?: Pick<RefusalLog, 'note'>;
}): Promise<GatewayWorld> {
  const { agentId = 1, keyId = 1, rateLimits, refusals, secret = () => undefined } = options;
  const clock = systemClock;
  const catalogue = buildCatalogue({
    providers: new Map(Object.entries(options.providers)),
    models: options.models,
    secret,
  });
  const gateway = gatewayServices({ ...options, catalogue });
  const shared = { clock, random: systemRandom, log: silentLog };
  const noting = refusals && { refusals };
  const keys = memoryKeys(clock.now, IDEMPOTENCY_LIMITS.windowMs);
  const outcomes = createOutcomeKeeper({ keys, ...shared });
  const lease = { mayReap: () => true, tick: async () => {} };
  const server = await createHttpServer({
    idempotency: createAnswerKeeper({ keys, outcomes, lease, ...shared }),
    routes: [
      chatCompletions,
      embeddings,
      speech,
      createTranscription,
      listModels,
      modelDetail,
      proxiedChat,
      proxiedEmbeddings,
      createMessage,
      countMessageTokens,
      createResponse,
      readResponse,
      deleteResponse,
      cancelResponse,
      responseInputItems,
    ],
    sockets: [createResponsesSocket({ ...gateway.services, ...noting, clock })],
    services: { ...gateway.services, clock },
    credentials: credentialsOf(
      new Map([[AGENT_KEY, { agentId, keyId }], ...(options.others ?? [])]),
    ),
    metrics: noMetrics,
    line: new MessageQueue(clock),
    tracer: options.tracer,
    holdsProviderKeys: () => Object.keys(options.storedKeys ?? {}).length > 0,
    secureCookies: false,
    ...(rateLimits && { rateLimits }),
    ...noting,
    ...shared,
  });
  const port = await server.listen({ host: '127.0.0.1', port: 0 });
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  return {
    baseUrl,
    usedKeys: gateway.usedKeys,
    openai: new OpenAI({ apiKey: AGENT_KEY, baseURL: baseUrl }),
    request(path, { body, headers = {} } = {}) {
      const text = typeof body === 'object' ? JSON.stringify(body) : body;
      return fetch(baseUrl + path, {
        method: text === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${AGENT_KEY}`, ...headers },
        ...(text === undefined ? {} : { body: text }),
      });
    },
    drain: server.drain,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

function credentialsOf(agents: ReadonlyMap<string, TestKey>): Credentials {
  const callers = new Map(
    [...agents].map(([key, agent]): [string, AgentCaller] => [
      key,
      {
        kind: 'agent',
        accountId: 'acct_000000000001',
        keyRootId: agent.keyId,
        permission: 'read_write',
        status: 'active',
        operatorExpiry: null,
        promptCaching: 'off',
        hasMoney: true,
        ...agent,
      },
    ]),
  );
  return {
    developerKey: async () => undefined,
    clientSecret: () => undefined,
    rememberedAgent: (key) => callers.get(key),
    agentKey: (key) => callers.get(key),
    signature: () => Promise.reject(new Error('no signatures here')),
    session: () => Promise.reject(new Error('no sessions here')),
    roleIn: async () => undefined,
    isAdminKey: () => false,
    isMetricsToken: () => false,
  };
}
