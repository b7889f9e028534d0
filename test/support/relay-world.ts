import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { Teardown } from '../../src/kernel/teardown.ts';
import type { Ledger } from '../../src/ledger/rules/ledger.ts';
import { buildCatalogue } from '../../src/models/catalogue/build-catalogue.ts';
import type {
  ModelEntry,
  ProviderEntry,
  RateTexts,
} from '../../src/models/catalogue/builtin/builtin-model.ts';
import { LOCAL_MODELS } from '../../src/models/catalogue/builtin/local.ts';
import { createSourceRests } from '../../src/models/providers/circuit-breaker.ts';
import { MessageQueue } from '../../src/platform/messages/message-queue.ts';
import { createListenSocket } from '../../src/protocols/deepgram/listen/listen-socket.ts';
import { createRealtimeSocket } from '../../src/protocols/openai-realtime/realtime-socket.ts';
import { createRealtimeRails } from '../../src/protocols/realtime-rails.ts';
import { createTranscriptionSocket } from '../../src/protocols/transcript-events/transcript-socket.ts';
import type { TapeFolder } from '../../src/voice/live/tape-folder.ts';
import type { VoiceSessions } from '../../src/voice/live/voice-sessions.ts';
import type { Relays } from '../../src/voice/relay/connect-relay.ts';
import type { Edge, startEdge } from './edge.ts';
import type { FakeLedger } from './fake-ledger.ts';
import { liveFront, storedKeysOf } from './live-front.ts';
import type { RealtimeClient } from './realtime-client.ts';
import { type RealtimeUpstream, realtimeUpstream } from './realtime-upstream.ts';
import { createVoiceWorld } from './voice-world.ts';

/** So that a token of sound costs one raw unit heard and two spoken, and one of text a tenth. */
export const TOKEN_RATES: RateTexts = {
  text_input_token: '0.1',
  text_output_token: '0.2',
  cached_input_token: '0.05',
  audio_input_token: '1',
  audio_output_token: '2',
};
/** A raw unit a second. */
export const TIME_RATES: RateTexts = { audio_second: '1' };

/** What one turn at the cap costs: 4,096 tokens heard and 1,024 spoken. */
export const TURN_RAW = 4_096n + 2_048n;

/** What the smallest costs that is of use: 256 tokens heard and 64 spoken. */
export const LEAST_TURN_RAW = 256n + 128n;

export type RelayWorld = AsyncDisposable & {
  /** The cheaper of the two that serve `acme/voice`. */
  readonly upstream: RealtimeUpstream;
  readonly second: RealtimeUpstream;
  readonly ledger: FakeLedger;
  readonly sessions: VoiceSessions;
  readonly edge: Edge;
  /** Providers that were called with a stored key. */
  readonly usedKeys: string[];
  url(model?: string): string;
  connect(model?: string, headers?: Record<string, string>): Promise<RealtimeClient>;
};

/** The voice sockets, the realtime one before two scripted upstreams, on a ledger in memory and with no margin. */
export async function relayWorld(
  options: {
    readonly creditRaw?: bigint;
    readonly clock?: Clock;
    readonly ledger?: Ledger;
    readonly storedKeys?: Readonly<Record<string, string>>;
    readonly connectMs?: number;
    readonly tapes?: TapeFolder;
    /** What the edge is to be besides. */
    readonly edge?: Partial<Parameters<typeof startEdge>[0]>;
  } = {},
): Promise<RelayWorld> {
  const { clock = systemClock, creditRaw = 1_000_000n, storedKeys = {}, connectMs } = options;
  const teardown = new Teardown();
  const upstream = teardown.use('upstream', await realtimeUpstream());
  const second = teardown.use('second', await realtimeUpstream());
  const catalogue = buildCatalogue({ ...entriesOf(upstream, second), secret: () => 'sk-server' });
  const line = new MessageQueue(clock);
  const shared = { clock, random: systemRandom, log: silentLog, catalogue, line };
  const rails = teardown.use(
    'rails',
    createRealtimeRails({ ...shared, ...(connectMs && { connectMs }) }),
  );
  const { providerKeys, usedKeys } = storedKeysOf(storedKeys);
  const relays: Relays = { rails, breaker: createSourceRests(shared), providerKeys };
  const { ledger: given, tapes } = options;
  const { deps, ledger } = await createVoiceWorld({
    clock,
    creditRaw,
    change: { catalogue, tapes, ...(given && { ledger: given }) },
  });
  const front = await liveFront(teardown, {
    sockets: [
      createRealtimeSocket(deps, relays),
      createTranscriptionSocket(deps),
      createListenSocket(deps),
    ],
    ...options.edge,
  });
  const url = (model = 'acme/voice') => front.at(`/v1/realtime?model=${encodeURIComponent(model)}`);
  return {
    ...front,
    upstream,
    second,
    ledger,
    usedKeys,
    url,
    sessions: deps.sessions,
    connect: (model, headers) => front.connect(url(model), headers),
  };
}

function entriesOf(upstream: RealtimeUpstream, second: RealtimeUpstream) {
  const dialect = 'openai-realtime';
  const providers = new Map<string, ProviderEntry>([
    ['local', { baseUrl: null, dialect: 'local' }],
    ['acme', { baseUrl: upstream.baseUrl, dialect, apiKeyEnv: 'ACME_KEY' }],
    ['second', { baseUrl: second.baseUrl, dialect, apiKeyEnv: 'SECOND_KEY' }],
  ]);
  const source = (provider: string, upstreamModel: string, rates: RateTexts) => ({
    rail: 'direct-account' as const,
    provider,
    upstreamModel,
    rates,
    marginBps: 0,
  });
  const dearer = { ...TOKEN_RATES, audio_output_token: '3' };
  const models: ModelEntry[] = [
    ...LOCAL_MODELS,
    {
      id: 'acme/voice',
      modality: 'realtime',
      sources: [source('acme', 'voice-1', TOKEN_RATES), source('second', 'voice-2', dearer)],
    },
    { id: 'acme/alone', modality: 'realtime', sources: [source('acme', 'alone', TOKEN_RATES)] },
    { id: 'acme/minutes', modality: 'realtime', sources: [source('acme', 'min', TIME_RATES)] },
  ];
  return { providers, models };
}
