import WebSocket from 'ws';
import { buildCatalogue } from '../src/gateway/build-catalogue.ts';
import { createRealtimeRails } from '../src/gateway/realtime-rails.ts';
import type { Credentials } from '../src/http/credentials.ts';
import { loadUws } from '../src/http/uws.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { silentLog } from '../src/kernel/log.ts';
import { systemRandom } from '../src/kernel/random.ts';
import { createSourceRests } from '../src/rails/rest-failing-source.ts';
import { createRealtimeSocket } from '../src/sockets/realtime.ts';
import { fakeCredentials, startEdge } from '../test/support/edge.ts';
import { TOKEN_RATES } from '../test/support/relay-world.ts';
import { createVoiceWorld } from '../test/support/voice-world.ts';

/**
 * A server that relays realtime sessions, in a process and on a core of its own: the real edge on a ledger in memory, or
 * nothing but the two libraries.
 */
export type RealtimeHostOrder = {
  readonly kind: 'bare' | 'metered';
  readonly upstreamPort: number;
  readonly sessions: number;
};

/** Every key is its own agent, `svc_12` of agent 12: no agent may have so many sockets. */
const credentials: Credentials = {
  ...fakeCredentials,
  agentKey: (key) => {
    const agentId = Number(key.slice('svc_'.length));
    return {
      ...{ kind: 'agent', agentId, accountId: 'acct_0', keyId: agentId, keyRootId: agentId },
      ...{ permission: 'read_write', status: 'active', operatorExpiry: null },
    };
  },
};

process.on('disconnect', () => process.exit(1));

async function openMetered({ sessions, upstreamPort }: RealtimeHostOrder): Promise<number> {
  const source = { provider: 'peer', upstreamModel: 'v', rates: TOKEN_RATES };
  const catalogue = buildCatalogue({
    providers: new Map([
      ['peer', { baseUrl: `ws://127.0.0.1:${upstreamPort}/v1`, dialect: 'openai-realtime' }],
    ]),
    models: [
      { id: 'peer/v', modality: 'realtime', sources: [{ rail: 'direct-account', ...source }] },
    ],
    secret: () => undefined,
  });
  const shared = { clock: systemClock, random: systemRandom, log: silentLog, catalogue };
  const world = await createVoiceWorld({
    clock: systemClock,
    creditRaw: 1n,
    change: { catalogue },
  });
  for (let agentId = 1; agentId <= sessions; agentId++) {
    const reference = `bench ${agentId}`;
    await world.ledger.credit({ agentId, amountRaw: 1_000_000n, reference });
  }
  const relays = {
    ...{ rails: createRealtimeRails(shared), rests: createSourceRests(shared) },
    providerKeys: { find: async () => undefined, noteUse: async () => {} },
  };
  const sockets = [createRealtimeSocket(world.deps, relays)];
  return (await startEdge({ sockets, credentials })).port;
}

/** What relaying costs over the same libraries, with nothing read, counted or held back. */
async function openBare({ upstreamPort }: RealtimeHostOrder): Promise<number> {
  const uws = await loadUws();
  const app = uws.App().ws<{ upstream: WebSocket }>('/v1/realtime', {
    maxPayloadLength: 1024 * 1024,
    maxBackpressure: 1024 * 1024,
    upgrade: (response, request, context) =>
      response.upgrade(
        { upstream: new WebSocket(`ws://127.0.0.1:${upstreamPort}/v1/realtime`) },
        request.getHeader('sec-websocket-key'),
        '',
        '',
        context,
      ),
    open: (client) => {
      const { upstream } = client.getUserData();
      upstream.on('message', (data: Buffer, isBinary) => client.send(data, isBinary));
    },
    message: (client, data, isBinary) =>
      client.getUserData().upstream.send(new Uint8Array(data), { binary: isBinary }),
    close: (client) => client.getUserData().upstream.terminate(),
  });
  return new Promise((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => resolve(uws.us_socket_local_port(socket as never)));
  });
}

const order = JSON.parse(process.argv[2] ?? '{}') as RealtimeHostOrder;
const port = await (order.kind === 'bare' ? openBare(order) : openMetered(order));
process.send?.({ port });
