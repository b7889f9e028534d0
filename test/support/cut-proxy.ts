import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { DatabaseTarget } from '../../src/platform/postgres/sql.ts';

export type CutProxy = {
  readonly target: DatabaseTarget;
  /** The next statement is carried out, and its answer never arrives. */
  loseNextAnswer(): void;
  /** The next statement never arrives. */
  loseNextCall(): void;
  /** No connection is accepted and those that stand are cut, until it is lifted. */
  away(isAway: boolean): void;
  readonly cuts: number;
  [Symbol.asyncDispose](): Promise<void>;
};

/** A way to the database that can be cut at a chosen moment. */
export async function cutProxy(to: DatabaseTarget): Promise<CutProxy> {
  const state = { mode: 'open' as 'open' | 'lose answer' | 'lose call', away: false, cuts: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    // The database hears nothing of those who find the line cut, or it would be busy with them when it is back.
    if (state.away) client.destroy();
    else pass(client, open(to), state, sockets);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    target: { kind: 'url', url: urlOf(to, server) },
    loseNextAnswer: () => {
      state.mode = 'lose answer';
    },
    loseNextCall: () => {
      state.mode = 'lose call';
    },
    away: (isAway) => {
      state.away = isAway;
      if (isAway) for (const socket of sockets) socket.destroy();
    },
    get cuts() {
      return state.cuts;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

type State = { mode: 'open' | 'lose answer' | 'lose call'; away: boolean; cuts: number };

function pass(client: Socket, upstream: Socket, state: State, sockets: Set<Socket>): void {
  const cut = () => {
    client.destroy();
    upstream.end();
  };
  for (const socket of [client, upstream]) {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      cut();
    });
  }
  client.on('data', (bytes) => {
    if (state.mode === 'lose call') {
      state.mode = 'open';
      state.cuts++;
      client.destroy();
      upstream.destroy();
      return;
    }
    upstream.write(bytes);
  });
  upstream.on('data', (bytes) => {
    // The server says that it is ready once it has committed.
    if (state.mode === 'lose answer' && bytes.at(-6) === 0x5a) {
      state.mode = 'open';
      state.cuts++;
      cut();
      return;
    }
    client.write(bytes);
  });
}

function open(to: DatabaseTarget): Socket {
  if (to.kind === 'socket') return connect(join(to.directory, '.s.PGSQL.5432'));
  const url = new URL(to.url);
  return connect(Number(url.port || 5432), url.hostname);
}

function urlOf(to: DatabaseTarget, server: Server): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  if (to.kind === 'socket') return `postgres://${to.user}@127.0.0.1:${port}/${to.database}`;
  const url = new URL(to.url);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return url.href;
}
