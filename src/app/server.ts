import type { AskAs } from '../http/pipeline/ask-as.ts';
import { createApiDescription } from '../http/server/api-description.ts';
import { createHttpServer, type HttpServer } from '../http/server/app.ts';
import { createHealthChecks, type HealthChecks } from '../http/server/health-checks.ts';
import { createStatusBoard, type StatusBoard } from '../http/server/public-status.ts';
import { Teardown } from '../kernel/teardown.ts';
import { createMcpServer } from '../mcp/mcp-server.ts';
import { createServiceTools } from '../mcp/service-tools.ts';
import type { Memory } from '../memory/memory.ts';
import { RATE_LIMIT_ADVISORY_HEADER } from '../models/routing/rate-limit-advisory.ts';
import type { Database } from '../platform/postgres/database.ts';
import { createTurnsSocket } from '../protocols/deepgram/flux/turns-socket.ts';
import { createListenSocket } from '../protocols/deepgram/listen/listen-socket.ts';
import {
  createSpeakSocket,
  createSpeakTurnsSocket,
} from '../protocols/deepgram/speak/speak-socket.ts';
import { createLiveSocket } from '../protocols/openai-live/live-socket.ts';
import { createRealtimeSocket } from '../protocols/openai-realtime/realtime-socket.ts';
import { createTranscriptionSocket } from '../protocols/transcript-events/transcript-socket.ts';
import type { Capabilities } from '../routes/capabilities.ts';
import { ROUTES } from '../routes/index.ts';
import { createCarrierMediaSocket } from '../sockets/carrier-media.ts';
import { createResponsesSocket } from '../sockets/responses.ts';
import { BUDGET_ADVISORY_HEADER, type BudgetReports } from '../spend/awareness/budget-left.ts';
import type { VoiceDeps } from '../voice/live/voice-deps.ts';
import { EVENT_KINDS } from '../webhooks/catalogue.ts';
import { eventSchema } from '../webhooks/event-schema.ts';
import { type AccountParts, buildAccounts } from './build/build-accounts.ts';
import { buildBudgets } from './build/build-budgets.ts';
import { buildChain, type ChainParts } from './build/build-chain.ts';
import { buildDeepgram } from './build/build-deepgram.ts';
import { buildGateway, buildLocalSound } from './build/build-gateway.ts';
import { buildLedger, type LedgerParts } from './build/build-ledger.ts';
import { buildMarketplace } from './build/build-marketplace.ts';
import { buildOrchestrators } from './build/build-orchestrators.ts';
import { buildPhone } from './build/build-phone.ts';
import { buildReports } from './build/build-reports.ts';
import { buildRequests } from './build/build-requests.ts';
import { buildVoice, type VoiceParts } from './build/build-voice.ts';
import { buildWebhooks } from './build/build-webhooks.ts';
import { forget } from './build/forget.ts';
import { buildMemory } from './build/memory/build-memory.ts';
import { buildPayments, openClient, openPassthroughs } from './build/payments/build-payments.ts';
import { buildTransfers } from './build/payments/build-transfers.ts';
import { startAccountWorkers } from './build/start-account-workers.ts';
import type { ServerDeps, World } from './build/world.ts';
import { Late } from './late.ts';
import { openWorld } from './open-world.ts';

/** A running server. Its disposal drains it: requests and sessions in progress may finish within `drainSeconds`. */
export type Server = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  readonly database: Database;
  /** True when at least one vendor's model is usable, besides the models inside the server. */
  readonly hasVendorModels: boolean;
};

/** Builds all parts, migrates the schema and listens. When it rejects, everything that was started is stopped again. */
export async function startServer(deps: ServerDeps): Promise<Server> {
  const teardown = new Teardown();
  try {
    return await compose(deps, teardown);
  } catch (error) {
    await teardown[Symbol.asyncDispose]().catch((err: unknown) => {
      // The operator must read the first error.
      deps.log.error({ err }, 'a start that failed was not undone cleanly');
    });
    throw error;
  }
}

async function compose(deps: ServerDeps, teardown: Teardown): Promise<Server> {
  const { settings, clock, signal } = deps;
  const { database, rateCard, world } = await openWorld(deps, teardown);
  const { catalogue } = world;
  const parts = await buildLedger(world, teardown);
  const chain = await buildChain(world, teardown);
  signal?.throwIfAborted();
  const accounts = buildAccounts(world, parts, chain, teardown);
  const voice = await buildVoice(world, parts.ledger, teardown);
  const health = createHealthChecks(clock, {
    db: database.ping,
    managedWallet: accounts.wallets === undefined ? undefined : async () => {},
    indexer: undefined,
  });
  const budgets = buildBudgets(world, parts);
  const sold = new Late<ReturnType<typeof buildGateway>['services']>();
  const remembering = { voice, node: parts.node, gateway: () => sold.part };
  const kept = await buildMemory(world, remembering, teardown);
  const buying = { accounts, chain, budgets, voice, ...kept };
  const purchases = buildPurchases(world, parts, buying, teardown);
  const { gateway } = purchases;
  sold.part = gateway.services;
  const webhooks = buildWebhooks(world, parts, teardown);
  const edge = new Late<HttpServer>();
  const askAs: AskAs = (request) => edge.part.askAs(request);
  const services = createServiceTools({ ...world, ...accounts, ...kept, askAs });
  const phone = buildPhone(world, parts, { voice, gateway, rateCard, services }, teardown);
  const requests = buildRequests(world, parts, teardown);
  const status = createStatusBoard({ ...chain, clock, health });
  const pays = chain.rpc !== undefined && accounts.wallets !== undefined;
  const capabilities = { ...CAPABILITIES, telephony: phone.hasPhone, x402Facilitator: pays };
  const reports = buildReports(world, requests, teardown);
  const orchestrators = buildOrchestrators(world, parts, accounts);
  const grouped = { ...webhooks, ...kept, ...phone, ...reports, ...orchestrators };
  const own = { ...grouped, health, status, capabilities };
  const served = { ...purchases.services, ...own };
  const live = { voice, ...gateway };
  const http = teardown.use('http', await openEdge(world, live, accounts, requests, served));
  edge.part = http;
  parts.lease.reportsWork(() => ({ requests: http.openRequests, sockets: http.openSockets }));
  const { credentials, invalidations } = accounts;
  parts.whenSuspended((agentId) => invalidations.notify({ kind: 'agent_stopped', agentId }));
  invalidations.subscribe((notice) => forget(notice, { ...parts, credentials, http, phone }));
  startAccountWorkers(world, accounts, health, teardown);

  const port = await http.listen({ host: settings.host, port: deps.port ?? settings.port });
  purchases.listensAt(port);
  teardown.defer('live sessions', () => drain(settings, { http, phone, voice }));
  return {
    url: settings.publicUrl ?? `${settings.tls ? 'https' : 'http'}://${settings.host}:${port}`,
    port,
    database,
    hasVendorModels: catalogue.models.some(({ id }) => !id.startsWith('local/')),
    [Symbol.asyncDispose]: () => teardown[Symbol.asyncDispose](),
  };
}

type PurchaseParts = {
  readonly accounts: AccountParts;
  readonly chain: ChainParts;
  readonly budgets: BudgetReports;
  readonly voice: VoiceParts;
  readonly memory: Memory;
};

/** Builds everything that agents buy per request: calls of vendors, the marketplace of this server, and models. */
function buildPurchases(
  world: World,
  parts: LedgerParts,
  { accounts, chain, budgets, memory, voice }: PurchaseParts,
  teardown: Teardown,
) {
  const { ledger } = parts;
  const { providerKeys } = accounts.services;
  const locals = buildLocalSound(voice);
  const client = openClient(world, teardown);
  const { spendState } = accounts;
  const passthroughs = openPassthroughs(world);
  const shop = { ledger, budgets, client, rails: locals, memory, spendState, passthroughs };
  const { directSales, listensAt, marketplace, vendorHealths } = buildMarketplace(
    world,
    shop,
    teardown,
  );
  const paying = { accounts, chain, budgets, client, marketplace, passthroughs };
  const { paidCalls, services: paid } = buildPayments(world, parts, paying, teardown);
  const selling = { ledger, voice, budgets, locals, paidCalls, providerKeys };
  const gateway = buildGateway(world, selling, teardown);
  return {
    gateway,
    /** Tells the marketplace the port that the server listens on. */
    listensAt,
    services: {
      ...gateway.services,
      ...paid,
      ...buildTransfers(world, parts, { accounts, chain }, teardown),
      ...buildDeepgram(world, { ...gateway.services, client, spendState }),
      directSales,
      vendorHealths,
    },
  };
}

type LiveParts = Pick<ReturnType<typeof buildGateway>, 'relays' | 'cascades'> & {
  readonly voice: VoiceDeps;
};

/** Registers all routes and sockets in one request pipeline. The result does not listen yet. */
function openEdge(
  world: World,
  { voice, relays, cascades }: LiveParts,
  accounts: AccountParts,
  requests: ReturnType<typeof buildRequests>,
  services: ReturnType<typeof buildPurchases>['services'] &
    ReturnType<typeof buildWebhooks> &
    Awaited<ReturnType<typeof buildMemory>> &
    ReturnType<typeof buildPhone> &
    ReturnType<typeof buildReports> &
    ReturnType<typeof buildOrchestrators> & {
      readonly health: HealthChecks;
      readonly status: StatusBoard;
      readonly capabilities: Capabilities;
    },
): Promise<HttpServer> {
  const { environment, publicUrl, socketsPerAgent, trustedProxies, tls } = world.settings;
  const publicOrigin = publicUrl?.replace(/\/$/, '') ?? '';
  const { refusals, responses } = services;
  const sockets = [
    createTranscriptionSocket(voice, relays.listen),
    createRealtimeSocket(voice, relays.realtime, cascades),
    createLiveSocket(voice, relays.live, cascades),
    createListenSocket(voice, relays.listen),
    createTurnsSocket(voice, relays.listen),
    createSpeakSocket({ ...world, speech: services.speech }),
    createSpeakTurnsSocket({ ...world, speech: services.speech }),
    createResponsesSocket({ ...world, refusals, responses }),
    createCarrierMediaSocket(services.carrierHooks, { ...world, publicOrigin }),
  ];
  return createHttpServer({
    routes: ROUTES,
    sockets,
    ...requests,
    ...world,
    services: {
      ...accounts.services,
      ...services,
      publicOrigin,
      mcp: createMcpServer({ ...world, publicUrl, memory: services.memory }),
      metrics: world.metrics,
      clock: world.clock,
      apiDescription: createApiDescription({
        routes: ROUTES,
        sockets,
        webhooks: EVENTS,
        publicUrl,
      }),
    },
    credentials: accounts.credentials,
    refusals,
    seeAiTool: accounts.aiTools.see,
    holdsProviderKeys: accounts.services.providerKeys.holdsAny,
    advisoryHeaders: advisoriesOf(world.settings),
    secureCookies: environment === 'production',
    publicUrl,
    trustedProxies,
    tls,
    socketCaps: { perAgent: socketsPerAgent },
  });
}

/** All events, each with the schema of its body, for the OpenAPI description. */
const EVENTS = EVENT_KINDS.map((kind) => ({ ...kind, schema: eventSchema(kind) }));

const advisoriesOf = ({
  budgetAdvisory,
  rateLimitAdvisory,
  tracing,
}: World['settings']): string[] => [
  ...(tracing === undefined ? [] : ['traceresponse']),
  ...(budgetAdvisory.enabled ? [BUDGET_ADVISORY_HEADER] : []),
  ...(rateLimitAdvisory.enabled ? [RATE_LIMIT_ADVISORY_HEADER] : []),
];

/** Requests and sessions finish side by side; both have the same time. Streams of events end at once. */
async function drain(
  { drainSeconds }: World['settings'],
  parts: {
    readonly http: HttpServer;
    readonly phone: Pick<ReturnType<typeof buildPhone>, 'closeFeeds'>;
    readonly voice: VoiceDeps;
  },
): Promise<void> {
  const { http, phone, voice } = parts;
  const graceMs = drainSeconds * 1_000;
  phone.closeFeeds();
  await Promise.all([http.drain(graceMs), voice.sessions.drain(graceMs)]);
}

const CAPABILITIES = {
  gateway: true,
  // The proxy to models is always on, since each request brings its own provider key.
  llmProxy: true,
  onrampHeadless: false,
  x402Facilitator: false,
};
