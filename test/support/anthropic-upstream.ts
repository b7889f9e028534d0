import { createServer, type IncomingMessage } from 'node:http';
import { listenOnLoopback } from './listen-on-loopback.ts';
import { objectionTo as vendorsObjection } from './strict/judge.ts';

type Json = Readonly<Record<string, unknown>>;

type Reply = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text goes out as it is, everything else as JSON. */
  readonly body?: unknown;
  /** Says nothing until the client leaves. */
  readonly isSilent?: boolean;
};

type Seen = { readonly path: string; readonly headers: Json; readonly body: Json };

export type AnthropicUpstream = AsyncDisposable & {
  readonly baseUrl: string;
  readonly seen: Seen[];
  /** Given in order, one a request; an empty queue greets. */
  readonly replies: Reply[];
};

/** The whole answer of a model that says or calls these blocks. */
export const messageOf = (content: readonly Json[], more: Json = {}): Json => ({
  id: 'msg_upstream',
  type: 'message',
  role: 'assistant',
  model: 'claude-upstream',
  content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1_200, output_tokens: 400 },
  ...more,
});

const GREETING: Reply = { body: messageOf([{ type: 'text', text: 'Good morning.' }]) };

const usualOf = (path: string): Reply => (path.endsWith('/count_tokens') ? COUNT : GREETING);

/** A peer that speaks the Messages protocol on loopback and refuses what the vendor refuses. */
export async function anthropicUpstream(apiKey: string): Promise<AnthropicUpstream> {
  const seen: Seen[] = [];
  const replies: Reply[] = [];
  const server = createServer((request, response) => {
    void readText(request).then((text) => {
      const { headers, url: path = '' } = request;
      seen.push({ path, headers, body: JSON.parse(text) as Json });
      const objection = headers['x-api-key'] === apiKey ? objectionTo(path, headers, text) : 'key';
      const {
        status = 200,
        isSilent,
        ...reply
      } = objection === undefined ? (replies.shift() ?? usualOf(path)) : refusal(objection);
      if (isSilent) return;
      response.writeHead(status, { 'content-type': 'application/json', ...reply.headers });
      response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
    });
  });
  return {
    ...(await listenOnLoopback(server)),
    seen,
    replies,
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

const refusal = (objection: string): Reply =>
  objection === 'key'
    ? { status: 401, body: errorOf('authentication_error', 'invalid x-api-key') }
    : { status: 400, body: errorOf('invalid_request_error', objection) };

export const errorOf = (type: string, message: string): Json => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_1',
});

const COUNT: Reply = { body: { input_tokens: 14 } };

/** Why the real one would not take a request, or nothing. */
function objectionTo(path: string, headers: Json, text: string): string | undefined {
  if (path !== '/v1/messages' && path !== '/v1/messages/count_tokens') return 'no such path';
  const version = headers['anthropic-version'];
  if (version !== '2023-06-01' && version !== '2026-10-21') {
    return 'anthropic-version: header is required';
  }
  return vendorsObjection({ path, headers, text });
}
