import WebSocket from 'ws';
import { favourMedia } from '../src/app/favour-media.ts';
import { loadUws } from '../src/http/server/uws.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { createRealtimeSocket } from '../src/protocols/openai-realtime/realtime-socket.ts';
import { startEdge } from '../test/support/edge.ts';
import { createVoiceWorld } from '../test/support/voice-world.ts';
import { ownAgents, relaysTo } from './relays.ts';

/**
 * A server that relays realtime sessions, in a process and on a core of its own: the real edge on a ledger in memory, or
 * nothing but the two libraries.
 */
export type RealtimeHostOrder = {
  readonly kind: 'bare' | 'metered';
  readonly upstreamPort: number;
  readonly sessions: number;
};

process.on('disconnect', () => process.exit(1));
favourMedia();

async function openMetered({ sessions, upstreamPort }: RealtimeHostOrder): Promise<number> {
  const { catalogue, realtime } = relaysTo(upstreamPort);
  const world = await createVoiceWorld({
    clock: systemClock,
    creditRaw: 1n,
    change: { catalogue },
  });
  for (let agentId = 1; agentId <= sessions; agentId++) {
    const reference = `bench ${agentId}`;
    await world.ledger.credit({ agentId, amountRaw: 1_000_000n, reference });
  }
  const sockets = [createRealtimeSocket(world.deps, realtime)];
  return (await startEdge({ sockets, credentials: ownAgents })).port;
}

/** What relaying costs over the same libraries, with nothing read, counted or held back. */
async function openBare({ upstreamPort }: RealtimeHostOrder): Promise<number> {
  const uws = loadUws();
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
