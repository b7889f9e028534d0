import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type {
  CallbackEvent,
  Carrier,
  Instruction,
  MediaCodec,
  MediaEvent,
} from '../../src/phone/carriers/carrier.ts';

type Answered = Extract<CallbackEvent, { kind: 'answered' }>;

/** A media stream on the side of the server. */
export type EdgeStream = {
  readonly codec: MediaCodec;
  readonly socket: WebSocket;
  /** All that was read; the bytes of sound are copies. */
  readonly events: MediaEvent[];
  send(message: string): void;
};

export type CarrierEdge = AsyncDisposable & {
  /** A public address as it is reached on this machine. */
  reach(url: string): string;
  /** What genuine callbacks said, in the order of their arrival. */
  readonly events: CallbackEvent[];
  readonly streams: EdgeStream[];
  /** So many callbacks of a status are answered 503, and not heard. */
  failsStatuses: number;
  /** How many requests and upgrades were not believed. */
  refused: number;
  instruct: (event: Answered) => Instruction;
  onMedia: (event: MediaEvent, stream: EdgeStream) => void;
};

export const PUBLIC_URL = 'https://phone.example';
const CALL = 'CAours';
const CARRIER_AWAY = { status: 503, contentType: 'text/plain', body: '' };

/** The least that a server does for its carrier over HTTP: believes, reads, instructs, and takes the media stream. */
export async function startCarrierEdge(carrier: () => Carrier): Promise<CarrierEdge> {
  const server = createServer(async (request, response) => {
    const { callbacks } = carrier();
    if (callbacks === undefined) throw new Error('a carrier without callbacks');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = `${PUBLIC_URL}${request.url}`;
    const headers = request.headers as Record<string, string>;
    const callback = { url, headers, body: Buffer.concat(chunks) };
    if (!callbacks.isGenuine(callback)) {
      edge.refused++;
      response.writeHead(403).end();
      return;
    }
    const event = callbacks.read(new URL(url).pathname.split('/').at(-1) ?? '', callback);
    if (event.kind === 'status' && edge.failsStatuses > 0) {
      edge.failsStatuses--;
      response.writeHead(503).end();
      return;
    }
    edge.events.push(event);
    const answer =
      event.kind === 'answered'
        ? await callbacks.instruct(event, edge.instruct(event)).catch(() => CARRIER_AWAY)
        : callbacks.acknowledgement;
    response.writeHead(answer.status, { 'content-type': answer.contentType }).end(answer.body);
  });
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  server.on('upgrade', (request, socket, head) => {
    const url = `${PUBLIC_URL}${request.url}`;
    const headers = request.headers as Record<string, string>;
    if (carrier().callbacks?.isGenuineUpgrade({ url, headers }) !== true) {
      edge.refused++;
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => takeStream(edge, carrier(), opened));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const edge: CarrierEdge = {
    reach: (url) => url.replace(/^(http|ws)s:\/\/phone\.example/, `$1://127.0.0.1:${port}`),
    events: [],
    streams: [],
    failsStatuses: 0,
    refused: 0,
    instruct: ({ callId = CALL }) => ({ kind: 'stream', callId }),
    onMedia: () => {},
    async [Symbol.asyncDispose]() {
      for (const { socket } of edge.streams) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return edge;
}

function takeStream(edge: CarrierEdge, carrier: Carrier, socket: WebSocket): void {
  const stream: EdgeStream = {
    codec: carrier.openMedia(),
    socket,
    events: [],
    send: (message) => socket.send(message),
  };
  edge.streams.push(stream);
  socket.on('error', () => {});
  socket.on('message', (message: Buffer) => {
    const read = stream.codec.read(message);
    const event = read.kind === 'media' ? { ...read, bytes: Uint8Array.from(read.bytes) } : read;
    stream.events.push(event);
    edge.onMedia(event, stream);
  });
}
