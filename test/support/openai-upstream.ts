import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnLoopback } from './listen-on-loopback.ts';
import { objectionTo } from './strict/judge.ts';
import { vectorList } from './vector-list.ts';

/** What the peer does with the next request, beyond answering it. */
type Fault =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Record<string, string>;
    }
  /** 200 with exactly this text. */
  | { readonly kind: 'text'; readonly text: string }
  /** 200 with so many bytes, announced or in chunks. */
  | { readonly kind: 'bytes'; readonly bytes: number; readonly announced: boolean }
  /** Drops the connection without an answer, or in the middle of one. */
  | { readonly kind: 'drop'; readonly after: 'request' | 'head' }
  /** Says nothing until the client leaves. */
  | { readonly kind: 'silence' }
  | { readonly kind: 'redirect'; readonly location: string }
  /** Answers well, but only then. */
  | { readonly kind: 'late'; readonly byMs: number };

type Usage = {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens?: number;
  readonly prompt_tokens_details?: { readonly cached_tokens: number };
};

/** What it may tell of a short prompt under `max_tokens: 16`; what it tells unasked is beyond such a request. */
export const SHORT_USAGE: Usage = { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 };

type Seen = {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Record<string, unknown>;
};

export type OpenAiUpstream = AsyncDisposable & {
  readonly baseUrl: string;
  readonly seen: Seen[];
  /** Requests whose client went away before the answer. */
  readonly abandoned: { count: number };
  usage: Usage | undefined;
  content: string;
  /** Beside those that every answer has. */
  headers: Readonly<Record<string, string | string[]>>;
  /** How vectors are written, whatever was asked for. */
  encoding: 'float' | 'base64' | undefined;
  /** Applied to requests in order, one each; an empty queue answers well. */
  readonly faults: Fault[];
};

/** A peer that speaks the OpenAI protocol of chat and embeddings on loopback, refuses what the vendor refuses, and fails on request. */
export async function openAiUpstream(): Promise<OpenAiUpstream> {
  const seen: Seen[] = [];
  const faults: Fault[] = [];
  const abandoned = { count: 0 };
  const peer = {
    seen,
    faults,
    abandoned,
    usage: { prompt_tokens: 1_200, completion_tokens: 400, total_tokens: 1_600 } as
      | Usage
      | undefined,
    content: 'Good morning.',
    encoding: undefined as OpenAiUpstream['encoding'],
    headers: {} as OpenAiUpstream['headers'],
  };

  const server = createServer((request, response) => {
    void readText(request).then((text) => {
      const { headers, url: path = '' } = request;
      const { authorization } = headers;
      const body = JSON.parse(text) as Record<string, unknown>;
      seen.push({ path, authorization, headers, body });
      const message = objectionTo({ headers, path, text });
      if (message !== undefined) {
        answer(response, 400, { error: { message, type: 'invalid_request_error' } });
        return;
      }
      const fault = faults.shift();
      const good = () =>
        request.url?.endsWith('/embeddings') ? vectorList(peer, body) : completion(peer, body);
      if (fault === undefined) answer(response, 200, good(), peer.headers);
      else if (fault.kind === 'silence') response.once('close', () => abandoned.count++);
      else if (fault.kind === 'late') setTimeout(() => answer(response, 200, good()), fault.byMs);
      else misbehave(response, fault);
    });
  });
  return Object.assign(peer, await listenOnLoopback(server));
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function completion(peer: { usage: Usage | undefined; content: string }, body: object) {
  return {
    id: 'chatcmpl-upstream',
    object: 'chat.completion',
    created: 1_735_689_600,
    model: (body as { model?: string }).model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: peer.content, refusal: null },
        finish_reason: 'stop',
        logprobs: null,
      },
    ],
    ...(peer.usage === undefined ? {} : { usage: peer.usage }),
  };
}

function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string | string[]>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

function misbehave(
  response: ServerResponse,
  fault: Exclude<Fault, { kind: 'silence' | 'late' }>,
): void {
  switch (fault.kind) {
    case 'status': {
      const body = fault.body ?? { error: { message: 'as told', type: 'server_error' } };
      answer(response, fault.status, body, fault.headers);
      break;
    }
    case 'text':
      answer(response, 200, fault.text);
      break;
    case 'bytes': {
      const headers = fault.announced ? { 'content-length': String(fault.bytes) } : undefined;
      response.writeHead(200, { 'content-type': 'application/json', ...headers });
      response.end(Buffer.alloc(fault.bytes, 0x20));
      break;
    }
    case 'drop':
      if (fault.after === 'head') response.write('{"choices":');
      // One turn later, so that the head is on its way before the connection goes.
      setImmediate(() => response.destroy());
      break;
    case 'redirect':
      response.writeHead(307, { location: fault.location });
      response.end();
      break;
  }
}
