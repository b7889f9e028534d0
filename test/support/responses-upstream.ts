import { createServer } from 'node:http';
import { listenOnLoopback } from './listen-on-loopback.ts';
import { objectionTo } from './strict/judge.ts';

/** An item of an answer, as the peer is told to give it. */
export type ToldItem =
  | { readonly say: readonly string[] }
  | { readonly call: string; readonly args: string }
  | { readonly think: string };

type Script = {
  readonly items: readonly ToldItem[];
  readonly usage?: object | null;
  readonly status?: 'completed' | 'incomplete' | 'failed';
  /** Beside what every response has. */
  readonly more?: object;
  /** A streamed answer ends with an event `error` of these members, in place of its last event. */
  readonly reports?: object;
};

export type ResponsesUpstream = AsyncDisposable & {
  readonly baseUrl: string;
  readonly seen: { readonly path: string; readonly body: Record<string, unknown> }[];
  play(script: Script | ((body: Record<string, unknown>) => Script)): void;
};

const RESPONSE_USAGE = {
  input_tokens: 1_200,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 400,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 1_600,
};

const event = (type: string, fields: object, sequence_number: number) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`;

/**
 * A peer that speaks OpenAI's Responses protocol on loopback, whole and streamed, with the events and in the order of
 * https://developers.openai.com/api/reference/resources/responses/streaming-events. It refuses what the vendor refuses.
 */
export async function responsesUpstream({
  chat,
}: {
  /** The completion that it answers chats with. Undefined: it has no chat. */
  readonly chat?: object;
} = {}): Promise<ResponsesUpstream> {
  const seen: { path: string; body: Record<string, unknown> }[] = [];
  let scriptOf = (_: Record<string, unknown>): Script => ({ items: [{ say: ['Good morning.'] }] });
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const body = JSON.parse(text) as Record<string, unknown>;
    const { headers, url: path = '' } = request;
    seen.push({ path, body });
    const message = objectionTo({ headers, path, text });
    if (message !== undefined) {
      const error = { message, type: 'invalid_request_error' };
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error }));
      return;
    }
    if (!request.url?.endsWith('/responses')) {
      response.writeHead(chat ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(chat ?? {}));
      return;
    }
    const events = eventsOf(scriptOf(body), body, seen.length);
    if (body.stream === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const [at, [type, fields]] of events.entries()) response.write(event(type, fields, at));
      response.end();
      return;
    }
    const [, last] = events.at(-1) as readonly [string, { response: object }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(last.response));
  });
  return {
    ...(await listenOnLoopback(server)),
    seen,
    play(script) {
      scriptOf = typeof script === 'function' ? script : () => script;
    },
  };
}

/** All events of an answer; the last one has the response. */
export function eventsOf(
  { items, more, reports, status = 'completed', usage = RESPONSE_USAGE }: Script,
  body: Readonly<Record<string, unknown>>,
  turn: number,
): (readonly [string, object])[] {
  const head = {
    id: `resp_up${turn}`,
    object: 'response',
    created_at: 1,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    metadata: body.metadata ?? {},
    model: body.model,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: 1,
    store: body.store ?? true,
    text: body.text ?? { format: { type: 'text' } },
    ...more,
  };
  const begun = { ...head, status: 'in_progress', output: [], usage: null };
  const events: (readonly [string, object])[] = [
    ['response.created', { response: begun }],
    ['response.in_progress', { response: begun }],
  ];
  const output = items.map((item, at) => {
    const [done, within] = itemOf(item, at, turn);
    events.push(...within);
    return done;
  });
  const whole = { ...head, status, output, usage };
  if (reports !== undefined) events.push(['error', reports]);
  else events.push([`response.${status}`, { response: whole }]);
  return events;
}

function itemOf(
  told: ToldItem,
  output_index: number,
  turn: number,
): readonly [object, (readonly [string, object])[]] {
  const at = { output_index };
  if ('call' in told) {
    const item_id = `fc_up${turn}${output_index}`;
    const item = { id: item_id, type: 'function_call', call_id: `call_${turn}${output_index}` };
    const done = { ...item, name: told.call, arguments: told.args, status: 'completed' };
    const half = Math.ceil(told.args.length / 2);
    return [
      done,
      [
        ['response.output_item.added', { ...at, item: { ...done, arguments: '' } }],
        ...[told.args.slice(0, half), told.args.slice(half)].map(
          (delta) => ['response.function_call_arguments.delta', { ...at, item_id, delta }] as const,
        ),
        ['response.function_call_arguments.done', { ...at, item_id, arguments: told.args }],
        ['response.output_item.done', { ...at, item: done }],
      ],
    ];
  }
  if ('think' in told) {
    const item = { id: `rs_up${turn}${output_index}`, type: 'reasoning', summary: [] };
    const done = { ...item, encrypted_content: told.think };
    return [
      done,
      [
        ['response.output_item.added', { ...at, item }],
        ['response.output_item.done', { ...at, item: done }],
      ],
    ];
  }
  const item_id = `msg_up${turn}${output_index}`;
  const text = told.say.join('');
  const part = { type: 'output_text', annotations: [], logprobs: [], text };
  const item = { id: item_id, type: 'message', role: 'assistant' };
  const done = { ...item, status: 'completed', content: [part] };
  const within = { ...at, item_id, content_index: 0 };
  return [
    done,
    [
      [
        'response.output_item.added',
        { ...at, item: { ...item, status: 'in_progress', content: [] } },
      ],
      ['response.content_part.added', { ...within, part: { ...part, text: '' } }],
      ...told.say.map(
        (delta) => ['response.output_text.delta', { ...within, delta, logprobs: [] }] as const,
      ),
      ['response.output_text.done', { ...within, text, logprobs: [] }],
      ['response.content_part.done', { ...within, part }],
      ['response.output_item.done', { ...at, item: done }],
    ],
  ];
}
