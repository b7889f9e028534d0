import type { Credentials } from '../src/http/auth/credentials.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { silentLog } from '../src/kernel/log.ts';
import { systemRandom } from '../src/kernel/random.ts';
import { buildCatalogue } from '../src/models/catalogue/build-catalogue.ts';
import type { ModelEntry, ProviderEntry } from '../src/models/catalogue/builtin/builtin-model.ts';
import { LOCAL_MODELS } from '../src/models/catalogue/builtin/local.ts';
import type { Dialect } from '../src/models/catalogue/catalogue.ts';
import { createSourceRests } from '../src/models/providers/circuit-breaker.ts';
import { MessageQueue } from '../src/platform/messages/message-queue.ts';
import { createListenRails, createRealtimeRails } from '../src/protocols/realtime-rails.ts';
import { fakeCredentials } from '../test/support/edge.ts';
import { TIME_RATES, TOKEN_RATES } from '../test/support/relay-world.ts';

/** The models of the benches: sessions that converse, and such that are heard. */
export const PEER = { talks: 'peer/v', hears: 'listener/t' } as const;

/** A catalogue with the two, live at one upstream on this port, and the way to them. */
export function relaysTo(upstreamPort: number) {
  const baseUrl = `ws://127.0.0.1:${upstreamPort}/v1`;
  const provider = (dialect: Dialect) => ({ baseUrl, dialect });
  const bought = { rail: 'direct-account', upstreamModel: 'm' } as const;
  const models: ModelEntry[] = [
    ...LOCAL_MODELS,
    {
      id: PEER.talks,
      modality: 'realtime',
      sources: [{ ...bought, provider: 'peer', rates: TOKEN_RATES }],
    },
    {
      id: PEER.hears,
      modality: 'stt',
      sources: [{ ...bought, provider: 'listener', rates: TIME_RATES }],
    },
  ];
  const catalogue = buildCatalogue({
    providers: new Map<string, ProviderEntry>([
      ['local', { baseUrl: null, dialect: 'local' }],
      ['peer', provider('openai-realtime')],
      ['listener', provider('deepgram')],
    ]),
    models,
    secret: () => undefined,
  });
  const line = new MessageQueue(systemClock);
  const shared = { clock: systemClock, random: systemRandom, log: silentLog, catalogue, line };
  const breaker = createSourceRests(shared);
  const providerKeys = { find: async () => undefined, noteUse: async () => {} };
  return {
    catalogue,
    realtime: { rails: createRealtimeRails(shared), breaker, providerKeys },
    listen: { rails: createListenRails(shared), breaker, providerKeys },
  };
}

/** Every key is its own agent, `svc_12` is key 12 of agent 12: no agent may have so many sockets. */
export const ownAgents: Credentials = {
  ...fakeCredentials,
  agentKey: (key) => {
    const agentId = Number(key.slice('svc_'.length));
    return {
      kind: 'agent',
      agentId,
      accountId: 'acct_0',
      keyId: agentId,
      keyRootId: agentId,
      permission: 'read_write',
      promptCaching: 'off',
      status: 'active',
      operatorExpiry: null,
    };
  },
};
