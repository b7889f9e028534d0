import { createServer, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { listenOnLoopback } from './listen-on-loopback.ts';

export const UNAUTHORIZED = 'unauthorized';

/** Base64 characters of 50 ms of 24 kHz PCM, which are a token. */
const TOKEN_CHARS = 3_200;

export type Frame = { readonly bytes: Buffer; readonly isBinary: boolean };

/** One session, as the upstream has it. */
export type UpstreamPeer = {
  readonly ws: WebSocket;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Every frame that came, as it came. */
  readonly frames: Frame[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** The first frame that came whose text contains this. */
  until(text: string): Promise<string>;
  say(event: object | string): void;
  /** Begins a response. */
  begin(id: string): void;
  /** Sends silence that lasts for this many tokens, as 24 kHz PCM. */
  sound(tokens: number): void;
  /** Ends it with a usage block; without one where it is undefined. */
  finish(id: string, usage: object | undefined, more?: object): void;
};

export type RealtimeUpstream = AsyncDisposable & {
  readonly baseUrl: string;
  readonly peers: UpstreamPeer[];
  /** How many sessions were asked for, those that were refused among them. */
  readonly asked: { count: number };
  /** Answers the next upgrades with these statuses, one each; 0 cuts the connection, -1 says nothing. */
  readonly refusals: number[];
  /** Runs at once for every session that stands; says hello by default. */
  greet: (peer: UpstreamPeer) => void;
  /** The session of this number, once it stands. */
  peer(index?: number): Promise<UpstreamPeer>;
};

/**
 * A peer that speaks the OpenAI realtime protocol on loopback, event by event as a test scripts it. `objectionTo` is why a vendor of
 * another protocol refuses the address or the headers that it is asked with; `UNAUTHORIZED` is a refusal of the credential.
 */
export async function realtimeUpstream(
  objectionTo: (url: URL, headers: IncomingMessage['headers']) => string | undefined = () =>
    undefined,
): Promise<RealtimeUpstream> {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  const peers: UpstreamPeer[] = [];
  const refusals: number[] = [];
  const asked = { count: 0 };
  const waiting = new Set<() => void>();
  const upstream = {
    peers,
    asked,
    refusals,
    greet: (peer: UpstreamPeer) => peer.say({ type: 'session.created', session: { id: 'sess_u' } }),
    async peer(index = 0) {
      while (peers[index] === undefined) {
        await new Promise<void>((resolve) => waiting.add(resolve));
      }
      return peers[index];
    },
  };

  const silent: Duplex[] = [];
  server.on('upgrade', (request, socket, head) => {
    asked.count++;
    const objection = objectionTo(new URL(request.url ?? '', 'http://vendor'), request.headers);
    const refusal = objection === UNAUTHORIZED ? 401 : 400;
    const status = objection === undefined ? refusals.shift() : refusal;
    if (status === undefined) {
      sockets.handleUpgrade(request, socket, head, (ws) => {
        const peer = peerOf(ws, request);
        peers.push(peer);
        upstream.greet(peer);
        for (const resume of waiting) resume();
        waiting.clear();
      });
    } else if (status === 0) socket.destroy();
    else if (status === -1) silent.push(socket);
    else socket.end(`HTTP/1.1 ${status} As told\r\ncontent-length: 0\r\nretry-after: 3\r\n\r\n`);
  });
  const listening = await listenOnLoopback(server);
  return Object.assign(upstream, {
    baseUrl: listening.baseUrl,
    async [Symbol.asyncDispose]() {
      for (const { ws } of peers) ws.terminate();
      for (const socket of silent) socket.destroy();
      await listening[Symbol.asyncDispose]();
    },
  });
}

function peerOf(ws: WebSocket, request: IncomingMessage): UpstreamPeer {
  const frames: Frame[] = [];
  let resolveNext = () => {};
  ws.on('message', (bytes: Buffer, isBinary: boolean) => {
    frames.push({ bytes: Buffer.from(bytes), isBinary });
    resolveNext();
  });
  ws.on('error', () => {});
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  const say = (event: object | string) =>
    ws.send(typeof event === 'string' ? event : JSON.stringify(event));
  return {
    ws,
    path: request.url ?? '',
    headers: request.headers,
    frames,
    closed,
    say,
    async until(text) {
      for (;;) {
        const found = frames.find(({ bytes }) => bytes.includes(text));
        if (found !== undefined) return found.bytes.toString();
        await new Promise<void>((resolve, reject) => {
          resolveNext = resolve;
          void closed.then(() => reject(new Error(`closed before "${text}" came`)));
        });
      }
    },
    begin: (id) => say({ type: 'response.created', response: { id, status: 'in_progress' } }),
    sound: (tokens) =>
      say({ type: 'response.output_audio.delta', delta: 'A'.repeat(tokens * TOKEN_CHARS) }),
    finish: (id, usage, more = {}) =>
      say({
        type: 'response.done',
        event_id: `event_${id}`,
        response: { object: 'realtime.response', id, status: 'completed', ...more, usage },
      }),
  };
}

/** A usage block of the GA protocol. */
export const usageOf = (tokens: {
  readonly textIn?: number;
  readonly audioIn?: number;
  readonly cachedText?: number;
  readonly cachedAudio?: number;
  readonly textOut?: number;
  readonly audioOut?: number;
}) => {
  const { textIn = 0, audioIn = 0, textOut = 0, audioOut = 0 } = tokens;
  const { cachedText = 0, cachedAudio = 0 } = tokens;
  return {
    total_tokens: textIn + audioIn + textOut + audioOut,
    input_tokens: textIn + audioIn,
    output_tokens: textOut + audioOut,
    input_token_details: {
      text_tokens: textIn,
      audio_tokens: audioIn,
      image_tokens: 0,
      cached_tokens: cachedText + cachedAudio,
      cached_tokens_details: {
        text_tokens: cachedText,
        audio_tokens: cachedAudio,
        image_tokens: 0,
      },
    },
    output_token_details: { text_tokens: textOut, audio_tokens: audioOut },
  };
};
