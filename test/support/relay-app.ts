import { createServer, type IncomingMessage } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { listenOnLoopback } from './listen-on-loopback.ts';

type Message = Readonly<Record<string, unknown>>;

/** One session, as the application has it. */
export type RelaySession = {
  readonly ws: WebSocket;
  readonly request: IncomingMessage;
  /** The next message of the carrier that was not taken yet. */
  heard(): Promise<Message>;
  say(...messages: readonly object[]): void;
  readonly closed: Promise<number>;
};

/** The application of a developer, which speaks its side of ConversationRelay as a test says. */
export async function startRelayApp() {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  const sessions: RelaySession[] = [];
  let wake = () => {};
  sockets.on('connection', (ws, request) => {
    sessions.push(sessionOf(ws, request));
    wake();
  });
  const { baseUrl, ...listening } = await listenOnLoopback(server);
  let taken = 0;
  return {
    url: `${baseUrl.replace(/^http/, 'ws')}/relay`,
    sessions,
    /** The next session that was not taken yet, once it stands. */
    async session(): Promise<RelaySession> {
      const at = taken++;
      while (sessions[at] === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return sessions[at];
    },
    async [Symbol.asyncDispose]() {
      for (const { ws } of sessions) ws.terminate();
      await listening[Symbol.asyncDispose]();
    },
  };
}

function sessionOf(ws: WebSocket, request: IncomingMessage): RelaySession {
  const messages: Message[] = [];
  let wake = () => {};
  ws.on('message', (data) => {
    messages.push(JSON.parse(String(data)));
    wake();
  });
  ws.on('error', () => {});
  const closed = new Promise<number>((resolve) => ws.on('close', resolve));
  return {
    ws,
    request,
    closed,
    async heard() {
      for (;;) {
        const message = messages.shift();
        if (message !== undefined) return message;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    say: (...all) => {
      for (const message of all) ws.send(JSON.stringify(message));
    },
  };
}
