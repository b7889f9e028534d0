import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { Teardown } from '../../src/kernel/teardown.ts';
import { buildCatalogue } from '../../src/models/catalogue/build-catalogue.ts';
import type {
  ModelEntry,
  ProviderEntry,
} from '../../src/models/catalogue/builtin/builtin-model.ts';
import { LOCAL_MODELS } from '../../src/models/catalogue/builtin/local.ts';
import { createSourceRests } from '../../src/models/providers/circuit-breaker.ts';
import { MessageQueue } from '../../src/platform/messages/message-queue.ts';
import { createLiveSocket } from '../../src/protocols/openai-live/live-socket.ts';
import { createLiveRails } from '../../src/protocols/realtime-rails.ts';
import { liveFront, storedKeysOf } from './live-front.ts';
import { realtimeUpstream } from './realtime-upstream.ts';
import { TIME_RATES } from './relay-world.ts';
import { createVoiceWorld } from './voice-world.ts';

/** The socket of live sessions before a scripted upstream, on a ledger in memory. A second costs one raw unit. */
export async function liveWorld(
  options: {
    readonly creditRaw?: bigint;
    readonly clock?: Clock;
    readonly storedKeys?: Readonly<Record<string, string>>;
  } = {},
) {
  const { clock = systemClock, creditRaw = 1_000_000n, storedKeys = {} } = options;
  const teardown = new Teardown();
  const upstream = teardown.use('upstream', await realtimeUpstream());
  // It says nothing before it has received `session.start`.
  upstream.greet = () => {};
  const providers = new Map<string, ProviderEntry>([
    ['local', { baseUrl: null, dialect: 'local' }],
    ['acme', { baseUrl: upstream.baseUrl, dialect: 'openai-live', apiKeyEnv: 'ACME_KEY' }],
    ['turns', { baseUrl: upstream.baseUrl, dialect: 'openai-realtime', apiKeyEnv: 'ACME_KEY' }],
  ]);
  const source = (provider: string) => ({
    rail: 'direct-account' as const,
    provider,
    upstreamModel: 'live-1',
    rates: TIME_RATES,
    marginBps: 0,
  });
  const models: ModelEntry[] = [
    ...LOCAL_MODELS,
    { id: 'acme/live', modality: 'realtime', sources: [source('acme')] },
    { id: 'acme/turns', modality: 'realtime', sources: [source('turns')] },
  ];
  const catalogue = buildCatalogue({ providers, models, secret: () => 'sk-server' });
  const line = new MessageQueue(clock);
  const shared = { clock, random: systemRandom, log: silentLog, catalogue, line };
  const rails = teardown.use('rails', createLiveRails(shared));
  const { providerKeys, usedKeys } = storedKeysOf(storedKeys);
  const relays = { rails, breaker: createSourceRests(shared), providerKeys };
  const world = await createVoiceWorld({ clock, creditRaw, change: { catalogue } });
  const socket = createLiveSocket(world.deps, relays);
  const front = await liveFront(teardown, { sockets: [socket] });
  const url = front.at('/v1/live/sessions');
  return {
    ...front,
    ...world,
    socket,
    upstream,
    url,
    usedKeys,
    connect: (headers?: Record<string, string>) => front.connect(url, headers),
  };
}

export type LiveWorld = Awaited<ReturnType<typeof liveWorld>>;

export const START = { type: 'session.start', event_id: 's', session: { model: 'acme/live' } };
