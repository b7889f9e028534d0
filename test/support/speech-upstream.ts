import { createServer, type ServerResponse } from 'node:http';
import { listenOnLoopback } from './listen-on-loopback.ts';

type Seen = {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Record<string, unknown>;
};

/** What the peer does with a request. */
export type Play = (response: ServerResponse) => void | Promise<void>;

export type SpeechUpstream = AsyncDisposable & {
  readonly baseUrl: string;
  readonly seen: Seen[];
  /** Answers whose client went away before their end. */
  readonly abandoned: { count: number };
  /** Applied to requests in order, one each; an empty queue answers with `sound`. */
  readonly plays: Play[];
  sound: Buffer;
  contentType: string | undefined;
};

/** A peer that speaks the OpenAI speech protocol on loopback, and does as told. */
export async function speechUpstream(): Promise<SpeechUpstream> {
  const abandoned = { count: 0 };
  const peer = {
    seen: [] as Seen[],
    plays: [] as Play[],
    abandoned,
    sound: noise(50_000),
    contentType: 'audio/mpeg' as string | undefined,
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { authorization } = request.headers;
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
    peer.seen.push({ path: request.url ?? '', authorization, body });
    response.on('close', () => {
      if (!response.writableFinished) abandoned.count++;
    });
    const play = peer.plays.shift() ?? sends(peer.sound, peer.contentType);
    await play(response);
  });
  return Object.assign(peer, await listenOnLoopback(server));
}

/** Bytes that no part of looks like another. */
export const noise = (length: number): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8) * 17 + 1) & 0xff));

const headersOf = (contentType: string | undefined) =>
  contentType === undefined ? {} : { 'content-type': contentType };

/** The whole file, in pieces that come apart. */
export const sends =
  (sound: Buffer, contentType: string | undefined): Play =>
  async (response) => {
    response.writeHead(200, headersOf(contentType));
    for (let at = 0; at < sound.length; at += 16_384) {
      response.write(sound.subarray(at, at + 16_384));
      await new Promise(setImmediate);
    }
    response.end();
  };

export const answers =
  (status: number, body: unknown = {}, headers: Record<string, string> = {}): Play =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

/** A head and, after it, so much of the sound; then the connection goes. */
export const breaksAfter =
  (sound: Buffer): Play =>
  (response) => {
    response.writeHead(200, { 'content-type': 'audio/mpeg' });
    response.flushHeaders();
    if (sound.length > 0) response.write(sound);
    // Later, so that what was written is on its way before the connection goes.
    setTimeout(() => response.destroy(), 30);
  };

/** The beginning, and nothing more until the client leaves. */
export const hangsAfter =
  (sound: Buffer): Play =>
  (response) => {
    response.writeHead(200, { 'content-type': 'audio/mpeg' });
    response.flushHeaders();
    if (sound.length > 0) response.write(sound);
  };

/** Events of this interface, with what they used in the last of them. */
export const sendsEvents =
  (pieces: readonly Buffer[], usage: object | undefined): Play =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of pieces) {
      const delta = { type: 'speech.audio.delta', audio: piece.toString('base64') };
      response.write(`data: ${JSON.stringify(delta)}\n\n`);
    }
    if (usage === undefined) setTimeout(() => response.destroy(), 30);
    else response.end(`data: ${JSON.stringify({ type: 'speech.audio.done', usage })}\n\n`);
  };
