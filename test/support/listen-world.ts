import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { Teardown } from '../../src/kernel/teardown.ts';
import type { Ledger } from '../../src/ledger/rules/ledger.ts';
import { buildCatalogue } from '../../src/models/catalogue/build-catalogue.ts';
import type {
  ModelEntry,
  ProviderEntry,
} from '../../src/models/catalogue/builtin/builtin-model.ts';
import { LOCAL_MODELS } from '../../src/models/catalogue/builtin/local.ts';
import { MODEL_LIMITS } from '../../src/models/limits.ts';
import { createSourceRests } from '../../src/models/providers/circuit-breaker.ts';
import { MessageQueue } from '../../src/platform/messages/message-queue.ts';
import { createTurnsSocket } from '../../src/protocols/deepgram/flux/turns-socket.ts';
import { createListenSocket } from '../../src/protocols/deepgram/listen/listen-socket.ts';
import { createListenRails } from '../../src/protocols/realtime-rails.ts';
import { createTranscriptionSocket } from '../../src/protocols/transcript-events/transcript-socket.ts';
import type { TapeFolder } from '../../src/voice/live/tape-folder.ts';
import type { VoiceSessions } from '../../src/voice/live/voice-sessions.ts';
import type { Edge } from './edge.ts';
import type { FakeLedger } from './fake-ledger.ts';
import { type ListenUpstream, listenUpstream } from './listen-upstream.ts';
import { liveFront, storedKeysOf } from './live-front.ts';
import type { RealtimeClient } from './realtime-client.ts';
import { createVoiceWorld } from './voice-world.ts';

export const RATE = 16_000;
export const LISTEN = '/v1/listen?encoding=linear16&sample_rate=16000&interim_results=true&model=';
export const TURNS = '/v2/listen?encoding=linear16&sample_rate=16000&model=';
export const STREAM = '/v1/audio/transcriptions/stream?model=';

export type ListenWorld = AsyncDisposable & {
  /** The cheaper of the two that serve `deepgram/nova-3`. */
  readonly upstream: ListenUpstream;
  readonly second: ListenUpstream;
  readonly ledger: FakeLedger;
  readonly sessions: VoiceSessions;
  readonly edge: Edge;
  /** Providers that were called with a stored key. */
  readonly usedKeys: string[];
  url(path: string): string;
  connect(path: string, headers?: Record<string, string>): Promise<RealtimeClient>;
};

/** The clock of this machine, on which the first openings are never over by time. */
function patientClock(openings: number): Clock {
  let left = openings;
  return {
    ...systemClock,
    setTimeout(work, ms) {
      const isPatient = ms === MODEL_LIMITS.link.listenOpeningMs && left-- > 0;
      return systemClock.setTimeout(isPatient ? () => {} : work, ms);
    },
  };
}

/** The sockets of live transcription before two upstreams: ten raw units a second, no margin, a ledger in memory. */
export async function listenWorld(
  options: {
    readonly creditRaw?: bigint;
    readonly change?: (ledger: FakeLedger) => Partial<Ledger>;
    readonly storedKeys?: Readonly<Record<string, string>>;
    readonly connectMs?: number;
    /** Upgrades of upstreams that are judged by their first sign alone, however late it comes; later ones have `listenOpeningMs`. */
    readonly patientOpenings?: number;
    readonly tapes?: TapeFolder;
  } = {},
): Promise<ListenWorld> {
  const { change, connectMs, creditRaw = 1_000_000n, storedKeys = {}, tapes } = options;
  const clock = patientClock(options.patientOpenings ?? 0);
  const teardown = new Teardown();
  const upstream = teardown.use('upstream', await listenUpstream());
  const second = teardown.use('second', await listenUpstream());
  const catalogue = buildCatalogue({ ...entriesOf(upstream, second), secret: () => 'sk-server' });
  const line = new MessageQueue(systemClock);
  const shared = { clock: systemClock, random: systemRandom, log: silentLog, catalogue, line };
  const rails = teardown.use(
    'rails',
    createListenRails({ ...shared, clock, ...(connectMs && { connectMs }) }),
  );
  const { providerKeys, usedKeys } = storedKeysOf(storedKeys);
  const relays = { rails, breaker: createSourceRests(shared), providerKeys };
  const world = await createVoiceWorld({ ...shared, creditRaw, change: { catalogue, tapes } });
  const { ledger } = world;
  const deps = { ...world.deps, ledger: { ...ledger, ...change?.(ledger) } };
  const sockets = [
    createListenSocket(deps, relays),
    createTranscriptionSocket(deps, relays),
    createTurnsSocket(deps, relays),
  ];
  const front = await liveFront(teardown, { sockets });
  return {
    ...front,
    upstream,
    second,
    ledger,
    usedKeys,
    url: front.at,
    sessions: deps.sessions,
    connect: (path, headers) => front.connect(front.at(path), headers),
  };
}

function entriesOf(upstream: ListenUpstream, second: ListenUpstream) {
  const dialect = 'deepgram';
  const providers = new Map<string, ProviderEntry>([
    ['local', { baseUrl: null, dialect: 'local' }],
    ['deepgram', { baseUrl: upstream.baseUrl, dialect, apiKeyEnv: 'DEEPGRAM_API_KEY' }],
    ['second', { baseUrl: second.baseUrl, dialect, apiKeyEnv: 'SECOND_KEY' }],
  ]);
  const source = (provider: string, upstreamModel: string, audio_second: string) => ({
    rail: 'direct-account' as const,
    provider,
    upstreamModel,
    marginBps: 0,
    rates: { audio_second },
  });
  const stt = (id: string, ...sources: ModelEntry['sources']): ModelEntry => ({
    id,
    modality: 'stt',
    sources,
  });
  const models = [
    ...LOCAL_MODELS,
    stt(
      'deepgram/nova-3',
      source('deepgram', 'nova-3', '10'),
      source('second', 'nova-3-hosted', '11'),
    ),
    stt('deepgram/nova-3-multilingual', source('deepgram', 'nova-3', '20')),
    stt('deepgram/flux-general-en', source('deepgram', 'flux-general-en', '10')),
    stt('deepgram/alone', source('deepgram', 'alone', '10')),
    stt('deepgram/by-token', {
      ...source('deepgram', 'tokens', '10'),
      rates: { audio_input_token: '1', text_output_token: '1' },
    }),
  ];
  return { providers, models };
}
