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

const usualOf = (path: string): Reply => (path.endsWith('/count_tokens') ? COUNT : GREETING);

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
  ...['thinking', 'output_config', 'cache_control', 'context_management', 'service_tier'],
]);

/** Of a prompt that is counted. */
const COUNTED = new Set([
  ...['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config'],
  ...['cache_control'],
]);

type Turn = {
  readonly role: string;
  readonly content?: string | readonly Json[];
  readonly output_config?: Json;
};

/** What the newer version has no more. */
const SAMPLING = ['temperature', 'top_p', 'top_k'];

const COUNT: Reply = { body: { input_tokens: 14 } };

const EFFORTS: readonly unknown[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** Why the real one would not promise a format, an effort or the arguments of a tool. */
function objectionToPromises({ model, output_config: config, tools }: Json): string | undefined {
  const { effort, format, ...others } = (config ?? {}) as Json;
  const [odd] = Object.keys(others);
  if (odd !== undefined) return `output_config.${odd}: Extra inputs are not permitted`;
  if (effort !== undefined && String(model).startsWith('claude-haiku-4-5')) {
    return 'This model does not support the effort parameter.';
  }
  if (effort !== undefined && !EFFORTS.includes(effort)) return 'output_config.effort: odd';
  if (format !== undefined) {
    const { schema, type, ...more } = format as Json;
    if (type !== 'json_schema' || Object.keys(more).length > 0) return 'output_config.format: odd';
    if (isOpen(schema)) return `output_config.format.schema: ${OPEN}`;
  }
  for (const [at, tool] of ((tools ?? []) as Json[]).entries()) {
    if (tool.strict === true && isOpen(tool.input_schema)) return `tools.${at}.custom: ${OPEN}`;
  }
  return undefined;
}

const OPEN = "For 'object' type, 'additionalProperties' must be explicitly set to false";

/** Whether an object of a schema may have members that it does not name. */
const isOpen = (schema: unknown): boolean =>
  typeof schema === 'object' &&
  schema !== null &&
  (((schema as Json).type === 'object' && (schema as Json).additionalProperties !== false) ||
    Object.values(schema).some(isOpen));

/** Why the real one would not take a request, or nothing. */
function objectionTo(path: string, headers: Json, body: Json): string | undefined {
  const isCount = path === '/v1/messages/count_tokens';
  if (path !== '/v1/messages' && !isCount) return 'no such path';
  const version = headers['anthropic-version'];
  if (version !== '2023-06-01' && version !== '2026-10-21') {
    return 'anthropic-version: header is required';
  }
  const sampling = SAMPLING.find((field) => version === '2026-10-21' && body[field] !== undefined);
  if (sampling !== undefined) return `${sampling}: Extra inputs are not permitted`;
  const known = isCount ? COUNTED : FIELDS;
  const odd = Object.keys(body).find((field) => !known.has(field));
  if (odd !== undefined) return `${odd}: Extra inputs are not permitted`;
  if (!(isCount || Number.isInteger(body.max_tokens))) return 'max_tokens: Field required';
  const promised = objectionToPromises(body);
  if (promised !== undefined) return promised;
  const turns = body.messages as readonly Turn[];
  if (turns[0]?.role !== 'user') return 'messages: first message must use the user role';
  let open: readonly unknown[] = [];
  for (const [index, { role, content: given = [], output_config: config }] of turns.entries()) {
    const content = typeof given === 'string' ? [{ type: 'text', text: given }] : given;
    const mayBeEmpty = role === 'system' && config?.effort !== undefined;
    if (content.length === 0 && !mayBeEmpty) return `messages.${index}: content is empty`;
    const results = content.flatMap(({ type, tool_use_id: id }) =>
      type === 'tool_result' ? [id] : [],
    );
    if (results.join() !== open.join()) return `messages.${index}: tool_use without tool_result`;
    open = content.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []));
    if (open.length > 0 && role !== 'assistant') return `messages.${index}: tool_use of a user`;
  }
  return undefined;
}
