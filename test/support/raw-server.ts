import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

export type RawPeer = {
  readonly socket: Socket;
  /** Everything that has come on this connection, one character a byte. */
  received: string;
  /** Ends the connection as a crash would, beneath TLS where there is any. */
  reset(): void;
};

export type RawServer = AsyncDisposable & {
  readonly port: number;
  /** Every connection that was ever taken, in order. */
  readonly peers: readonly RawPeer[];
  /** How many heads of requests have come, on all connections. */
  requests(): number;
};

export type RawScript = {
  /** On a new connection, before anything was said. */
  readonly connected?: (peer: RawPeer) => void;
  /** On every piece that comes; `peer.received` has it already. */
  readonly data?: (peer: RawPeer) => void;
  /** With it the server speaks TLS. */
  readonly tls?: { readonly key: string; readonly cert: string };
  readonly host?: string;
};

const headsIn = (text: string) => text.split(' HTTP/1.1\r\n').length - 1;

/** A server that says exactly what a script tells it to, for what well-behaved servers never do. */
export async function startRawServer(script: RawScript): Promise<RawServer> {
  const { tls, host = '127.0.0.1' } = script;
  const peers: RawPeer[] = [];
  const sockets = new Set<Socket>();
  /** The outer side of a relayed connection, by the port that its inner side comes from. */
  const outer = new Map<number | undefined, Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    // A reset is an ending like any other here.
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    return socket;
  };
  const take = (socket: Socket) => {
    const outside = outer.get(socket.remotePort) ?? socket;
    const reset = () => void outside.resetAndDestroy();
    const peer: RawPeer = { socket: keep(socket), received: '', reset };
    peers.push(peer);
    socket.on('data', (bytes) => {
      peer.received += bytes.toString('latin1');
      script.data?.(peer);
    });
    script.connected?.(peer);
  };

  const servers: Server[] = [];
  let port: number;
  if (tls === undefined) {
    port = await listen(createServer(take), host, servers);
  } else {
    // A socket under TLS cannot be reset from within: it is reached through a relay.
    const inner = createTlsServer(tls, take).on('tlsClientError', () => {});
    const innerPort = await listen(inner, host, servers);
    const relay = createServer((socket) => {
      const inside = keep(connect(innerPort, host, () => outer.set(inside.localPort, socket)));
      keep(socket).pipe(inside).pipe(socket);
      socket.on('close', () => inside.destroy());
      inside.on('close', () => socket.destroySoon());
    });
    port = await listen(relay, host, servers);
  }
  return {
    port,
    peers,
    requests: () => peers.reduce((sum, { received }) => sum + headsIn(received), 0),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
    },
  };
}

async function listen(server: Server, host: string, servers: Server[]): Promise<number> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, host, done));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** A whole answer with its length. */
export const rawAnswer = (body: string, headers: readonly string[] = [], status = '200 OK') =>
  [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${body.length}`, '', body].join('\r\n');

/** Answers each whole head with the same text. */
export const answering =
  (answer: string) =>
  (peer: RawPeer): void => {
    if (peer.received.endsWith('\r\n\r\n')) peer.socket.write(answer, 'latin1');
  };
