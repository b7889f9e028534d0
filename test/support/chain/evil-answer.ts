import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type ChallengeShape, type Place, renderChallenge } from './evil-challenge.ts';

type Headers = readonly (readonly [string, string])[];

/** What goes back over the wire. */
export type EvilAnswer =
  | {
      readonly kind: 'answer';
      readonly status?: number;
      /** Pairs, so that a name may stand twice. */
      readonly headers?: Headers;
      readonly body?: string | Buffer;
      /** The receipt header: true to the facts without it, absent, or laid over the truth. */
      readonly receipt?: 'none' | Readonly<Record<string, unknown>>;
    }
  | ({ readonly kind: 'challenge' } & ChallengeShape)
  | { readonly kind: 'redirect'; readonly location: string; readonly status?: number }
  /** Takes the request and says nothing more. */
  | { readonly kind: 'silence' }
  | { readonly kind: 'drop'; readonly after: 'request' | 'head' | 'half-body' }
  | { readonly kind: 'endless' }
  /** A byte or a header line at a time, for ever. */
  | { readonly kind: 'drip'; readonly part: 'head' | 'body'; readonly everyMs: number }
  /** So many megabytes of zeros, small on the wire. */
  | { readonly kind: 'bomb'; readonly megabytes: number }
  /** Many 1xx answers before the 200. */
  | { readonly kind: 'hints'; readonly count: number }
  /** Server-sent events, and then nothing more until the buyer is gone. */
  | { readonly kind: 'events'; readonly events: readonly string[] }
  | { readonly kind: 'trailers'; readonly trailers: Readonly<Record<string, string>> }
  /** These bytes in place of an HTTP answer, then the end of the connection. */
  | { readonly kind: 'raw'; readonly text: string };

/** What the answer may speak of. */
export type Facts = {
  readonly place: Place;
  readonly receipt: readonly [string, string] | undefined;
  readonly body: string;
};

const JSON_TYPE = ['content-type', 'application/json'] as const;

/** Gives the answer; resolves once it is given, or the buyer is gone. */
export async function perform(
  answer: EvilAnswer,
  response: ServerResponse,
  facts: Facts,
): Promise<void> {
  switch (answer.kind) {
    case 'answer': {
      const receipt = facts.receipt === undefined ? [] : [facts.receipt];
      const headers = [JSON_TYPE, ...receipt, ...(answer.headers ?? [])];
      return whole(response, answer.status ?? 200, headers, answer.body ?? facts.body);
    }
    case 'challenge': {
      const { status, headers, body } = renderChallenge(answer, facts.place);
      return whole(response, status, headers, body);
    }
    case 'redirect':
      return whole(response, answer.status ?? 302, [['location', answer.location]], '');
    case 'silence':
      return;
    case 'drop':
      return drop(response, answer.after);
    case 'endless':
      return stream(response, [], endless());
    case 'drip':
      return drip(response, answer);
    case 'bomb':
      return stream(response, [['content-encoding', 'gzip']], bomb(answer.megabytes));
    case 'hints':
      for (let i = 0; i < answer.count; i++) response.writeProcessing();
      response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
      return whole(response, 200, [JSON_TYPE], facts.body);
    case 'events':
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of answer.events) response.write(`data: ${event}\n\n`);
      return;
    case 'trailers':
      response.writeHead(200, ['trailer', Object.keys(answer.trailers).join(', ')]);
      response.write(facts.body);
      response.addTrailers(answer.trailers);
      response.end();
      return;
    case 'raw':
      response.socket?.end(answer.text);
      return;
  }
}

function whole(
  response: ServerResponse,
  status: number,
  headers: Headers,
  body: string | Buffer,
): void {
  response.writeHead(status, headers.flat());
  response.end(body);
}

async function drop(response: ServerResponse, after: 'request' | 'head' | 'half-body') {
  if (after !== 'request') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 });
    if (after === 'head') response.flushHeaders();
    else response.write('{"half":');
    // So that it is on its way before the connection goes.
    await sleep(20);
  }
  response.destroy();
}

async function stream(response: ServerResponse, headers: Headers, parts: Iterable<Buffer>) {
  response.writeHead(200, headers.flat());
  // The buyer is expected to leave.
  await pipeline(Readable.from(parts), response).catch(() => undefined);
}

function* endless(): Generator<Buffer> {
  const part = Buffer.alloc(64 * 1_024, 0x20);
  while (true) yield part;
}

/** Members of a gzip stream follow one another, so one that is made once will do. */
function* bomb(megabytes: number): Generator<Buffer> {
  const member = gzipSync(Buffer.alloc(1_048_576));
  for (let i = 0; i < megabytes; i++) yield member;
}

async function drip(
  response: ServerResponse,
  { part, everyMs }: { readonly part: 'head' | 'body'; readonly everyMs: number },
): Promise<void> {
  const { socket } = response;
  if (socket === null) return;
  if (part === 'head') socket.write('HTTP/1.1 200 OK\r\n');
  else response.writeHead(200, JSON_TYPE.slice());
  for (let i = 0; !socket.destroyed; i++) {
    if (part === 'head') socket.write(`x-drip-${i}: 1\r\n`);
    else response.write(' ');
    await sleep(everyMs, undefined, { ref: false });
  }
}
