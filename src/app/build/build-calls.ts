import { enginesFor } from '../../engines/engines-for.ts';
import { startWorkers } from '../../kernel/schedule.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import { createTakeSession } from '../../ledger/engine/take-session.ts';
import { createBatches } from '../../phone/batches/batches.ts';
import { createBatchRunner } from '../../phone/batches/run-batches.ts';
import type { CallDeps } from '../../phone/calls/call-deps.ts';
import { createCalls, createCarrierHooks } from '../../phone/calls/calls.ts';
import { createCommandTaker } from '../../phone/calls/commands/command-calls.ts';
import { createCallEnder } from '../../phone/calls/ending/end-unwanted.ts';
import { CallFeed } from '../../phone/calls/feed/call-feed.ts';
import { askInbound } from '../../phone/calls/opening/ask-inbound.ts';
import {
  createRecogniserPlaces,
  type RecogniserPlaces,
} from '../../phone/calls/opening/recogniser-places.ts';
import { requestSecret } from '../../phone/calls/opening/request-secret.ts';
import { requireCallModels } from '../../phone/calls/opening/require-models.ts';
import { createPlaceFreer } from '../../phone/calls/sweep/free-places.ts';
import { createCallSweeper } from '../../phone/calls/sweep/sweep-calls.ts';
import { createTurnWriter } from '../../phone/calls/turn-writer.ts';
import { watchCarrierSpend } from '../../phone/calls/watch-carrier-spend.ts';
import { askCarrierPrices } from '../../phone/carrier-prices/ask-prices.ts';
import { createPriceMetrics } from '../../phone/carrier-prices/price-metrics.ts';
import type { Carrier } from '../../phone/carriers/carrier.ts';
import { createTestRing } from '../../phone/carriers/test-ring.ts';
import { createDialPacer } from '../../phone/dialling/dial-pacer.ts';
import { refuseNumber } from '../../phone/dialling/refuse-number.ts';
import { PHONE_LIMITS } from '../../phone/limits.ts';
import type { RateCard } from '../../phone/rate-card.ts';
import { createRecordingKeeper } from '../../phone/recordings/keep-recordings.ts';
import { createCallAnalyzer } from '../../phone/records/analysis/analyze-calls.ts';
import { createJudge } from '../../phone/records/analysis/judge-by-model.ts';
import { createCallRecords } from '../../phone/records/call-records.ts';
import { createReportForgetter } from '../../phone/records/forget-reports.ts';
import { createRunTool } from '../../phone/tools/run-tool.ts';
import type { ServiceTools } from '../../phone/tools/service-tools.ts';
import { openResponder } from '../../phone/voice/open-responder.ts';
import { fetchSound } from '../../phone/voice/sound-file.ts';
import { DEFAULT_VOICE_MODEL } from '../../phone/voice/voice-settings.ts';
import type { DestinationGuard } from '../../platform/egress/destination-guard.ts';
import { createGuardedClient } from '../../platform/egress/guarded-client.ts';
import { localEngineOf } from '../../voice/cascade/plan-cascade.ts';
import { VOICE_LIMITS } from '../../voice/limits.ts';
import type { buildGateway } from './build-gateway.ts';
import type { LedgerParts } from './build-ledger.ts';
import type { VoiceParts } from './build-voice.ts';
import { requireSoldModel } from './require-sold-model.ts';
import type { World } from './world.ts';

export type CallParts = {
  readonly ledger: Pick<LedgerParts, 'node'>;
  readonly voice: VoiceParts;
  readonly gateway: Pick<ReturnType<typeof buildGateway>, 'cascades'> & {
    readonly services: Pick<ReturnType<typeof buildGateway>['services'], 'chat'>;
  };
  readonly services: ServiceTools;
  readonly rateCard: RateCard;
  /** Checks the addresses of voice webhooks. */
  readonly guard: DestinationGuard;
  readonly voiceOf: CallDeps['voiceOf'];
};

/**
 * Connections per origin: all voice webhooks may be at one host, so one origin may use as many connections as there are live
 * sessions.
 */
const BOUNDS = { perOrigin: VOICE_LIMITS.liveSessions };

/** Builds what calls need of this server, and the workers that end them. */
export function buildCalls(
  world: World,
  parts: CallParts,
  carrier: Carrier,
  teardown: Teardown,
): CallDeps {
  const { catalogue, settings, sql } = world;
  const { dialsPerSecond, monthlyCarrierLimitUsd, sttModel, ttsModel } = settings.phone;
  const client = teardown.use(
    'voice webhook client',
    createGuardedClient({ guard: parts.guard, clock: world.clock, bounds: BOUNDS }),
  );
  const feed = new CallFeed(world);
  const deps: CallDeps = {
    ...world,
    ...parts.voice,
    cascades: parts.gateway.cascades,
    takeSession: createTakeSession({ sql, node: parts.ledger.node }),
    carrier,
    dials:
      dialsPerSecond === undefined
        ? undefined
        : createDialPacer({
            clock: world.clock,
            perSecond: dialsPerSecond,
            longestWaitMs: PHONE_LIMITS.carrier.dialWaitMs,
          }),
    mediaTimeoutMs: settings.phone.mediaTimeoutMs,
    concurrentCalls: settings.phone.concurrentCalls,
    carrierLimitUsd: monthlyCarrierLimitUsd,
    rateCard: parts.rateCard,
    recordingDays: settings.phone.recordingDays,
    publicUrl: settings.publicUrl,
    models: {
      stt: requireSoldModel(catalogue, 'PHONE_STT_MODEL', sttModel, 'stt'),
      tts: requireSoldModel(catalogue, 'PHONE_TTS_MODEL', ttsModel, 'tts'),
      llm: catalogue.find(DEFAULT_VOICE_MODEL) === undefined ? 'local/guide' : DEFAULT_VOICE_MODEL,
    },
    voiceOf: parts.voiceOf,
    openResponder: (call, options) =>
      openResponder({ ...world, guard: parts.guard, client }, call, options),
    async askInbound(question, { secretVersion: version, url }) {
      const sealingSecret = settings.providerKeySecret;
      if (sealingSecret === undefined) return undefined;
      const secret = requestSecret(sealingSecret, { agentId: question.agentId, version });
      return askInbound({ ...world, client }, { secret, url }, question);
    },
    refusalOf: (to, accountId) => refuseNumber({ ...world, ...settings.phone }, to, accountId),
    dialling: settings.phone,
    openSound: (url, signal) => fetchSound(client, url, signal),
    services: parts.services,
    runTool: createRunTool({
      client,
      clock: world.clock,
      sealingSecret: settings.providerKeySecret,
      services: parts.services,
    }),
    turns: createTurnWriter({
      ...world,
      written: (callId, seq, { at, content, role }) =>
        feed.turnWritten(callId, { seq, role, text: content, at: at.toISOString() }),
    }),
    feed,
    room: createRoom(world, parts),
    enginesOf: (agentId) => enginesFor(parts.voice.engines, agentId),
    live: new Map(),
  };
  requireCallModels(deps);
  const stopping = new AbortController();
  const watching = watchCarrierSpend(carrier, monthlyCarrierLimitUsd);
  const batchRunner = teardown.use('calls of batches', createBatchRunner(deps));
  const workers = [
    batchRunner,
    createCallSweeper(deps),
    createCallEnder(deps),
    createPlaceFreer(deps),
    createCommandTaker(deps),
    createReportForgetter(deps),
    createCallAnalyzer({
      ...world,
      judge: createJudge({
        clock: world.clock,
        chat: parts.gateway.services.chat,
        model: deps.models.llm,
        stopping: stopping.signal,
      }),
    }),
    createRecordingKeeper(deps),
    askCarrierPrices({ ...deps, metrics: createPriceMetrics(world.metrics) }),
    ...(watching === undefined ? [] : [watching]),
  ];
  teardown.use('call workers', startWorkers(world, workers));
  teardown.defer('verdicts of models', async () => stopping.abort());
  return deps;
}

/** Undefined: calls are transcribed elsewhere. */
function createRoom(
  { catalogue, clock, settings }: World,
  { voice }: Pick<CallParts, 'voice'>,
): RecogniserPlaces | undefined {
  const stt = catalogue.find(settings.phone.sttModel);
  const isLocal = stt !== undefined && localEngineOf(stt) !== undefined;
  return isLocal
    ? createRecogniserPlaces({ clock, recogniser: voice.engines.stt.pocketsphinx })
    : undefined;
}

/** Builds the services of calls for agents and carriers. Without a carrier they refuse everything. */
export function callServices(deps: CallDeps | undefined) {
  const calls = createCalls(deps);
  return {
    calls,
    batches: createBatches(deps && { ...deps, calls }),
    callRecords: createCallRecords(deps),
    carrierHooks: createCarrierHooks(deps),
    testRing: createTestRing(deps?.carrier),
  };
}
