import { createServer, type IncomingMessage } from 'node:http';
import { listenOnLoopback } from './listen-on-loopback.ts';

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

/**
 * A peer that speaks the Messages protocol on loopback, as strictly as the real one where a translation
 * could go wrong: what it cannot take, it refuses.
 */
export async function anthropicUpstream(apiKey: string): Promise<AnthropicUpstream> {
  const seen: Seen[] = [];
  const replies: Reply[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const { headers, url: path = '' } = request;
      seen.push({ path, headers, body });
      const objection = headers['x-api-key'] === apiKey ? objectionTo(path, headers, body) : 'key';
      const {
        status = 200,
        isSilent,
        ...reply
      } = objection === undefined ? (replies.shift() ?? GREETING) : refusal(objection);
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

async function readBody(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Json;
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

const FIELDS = new Set([
  ...['model', 'max_tokens', 'messages', 'system', 'tools', 'tool_choice', 'metadata', 'stream'],
  ...['temperature', 'top_p', 'top_k', 'stop_sequences'],
]);

type Turn = { readonly role: string; readonly content: readonly Json[] };

/** Why the real one would not take a request, or nothing. */
function objectionTo(path: string, headers: Json, body: Json): string | undefined {
  if (path !== '/v1/messages') return 'no such path';
  if (headers['anthropic-version'] !== '2023-06-01') return 'anthropic-version: header is required';
  const odd = Object.keys(body).find((field) => !FIELDS.has(field));
  if (odd !== undefined) return `${odd}: Extra inputs are not permitted`;
  if (!Number.isInteger(body.max_tokens)) return 'max_tokens: Field required';
  const turns = body.messages as readonly Turn[];
  if (turns[0]?.role !== 'user') return 'messages: first message must use the user role';
  let open: readonly unknown[] = [];
  for (const [index, { role, content }] of turns.entries()) {
    if (content.length === 0) return `messages.${index}: content is empty`;
    const results = content.flatMap(({ type, tool_use_id: id }) =>
      type === 'tool_result' ? [id] : [],
    );
    if (results.join() !== open.join()) return `messages.${index}: tool_use without tool_result`;
    open = content.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []));
    if (open.length > 0 && role !== 'assistant') return `messages.${index}: tool_use of a user`;
  }
  return undefined;
}
