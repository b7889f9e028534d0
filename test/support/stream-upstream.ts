import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnLoopback } from './listen-on-loopback.ts';
import { type ChatVendor, objectionTo } from './strict/judge.ts';

/** How a streamed answer is written: what is flushed at a time, and how it ends. */
export type StreamScript = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces: readonly (string | Uint8Array)[];
  /** `end`: as it should; `cut`: the connection goes; `hang`: nothing more comes until the client leaves. */
  readonly ends?: 'end' | 'cut' | 'hang';
  /** Between two pieces. */
  readonly everyMs?: number;
};

/** What was asked for: a JSON body, or the fields of a form. */
type Asked = Record<string, unknown>;

export type StreamUpstream = AsyncDisposable & {
  readonly baseUrl: string;
  readonly seen: Asked[];
  readonly authorizations: (string | undefined)[];
  /** Answers that were not read to their end. */
  readonly abandoned: { count: number };
  /** Bytes of answers that went out. */
  readonly sent: { bytes: number };
  /** What every request from now on is answered with. */
  play(script: StreamScript | ((asked: Asked) => StreamScript)): void;
};

/**
 * A peer that answers what it is told, piece by piece; each piece is a write of its own. It refuses what the vendor refuses whose
 * path is asked; `vendor` is who sells its chat.
 */
export async function streamUpstream(vendor?: ChatVendor): Promise<StreamUpstream> {
  const seen: Asked[] = [];
  const authorizations: (string | undefined)[] = [];
  const abandoned = { count: 0 };
  const sent = { bytes: 0 };
  let scriptOf = (_asked: Asked): StreamScript => ({ pieces: [] });
  const server = createServer(async (request, response) => {
    const { asked, text } = await readAsked(request);
    seen.push(asked);
    authorizations.push(request.headers.authorization);
    response.socket?.setNoDelay(true);
    response.once('close', () => {
      if (!response.writableFinished) abandoned.count++;
    });
    const { headers, url: path = '' } = request;
    const objection = text === undefined ? undefined : objectionTo({ headers, path, text }, vendor);
    await write(response, objection === undefined ? scriptOf(asked) : refusal(objection), sent);
  });
  return {
    ...(await listenOnLoopback(server)),
    seen,
    authorizations,
    abandoned,
    sent,
    play(script) {
      scriptOf = typeof script === 'function' ? script : () => script;
    },
  };
}

const refusal = (message: string): StreamScript => ({
  status: 400,
  headers: { 'content-type': 'application/json' },
  pieces: [JSON.stringify({ error: { message, type: 'invalid_request_error' } })],
});

/** What was asked for, and its text where that is JSON. */
async function readAsked(
  request: IncomingMessage,
): Promise<{ readonly asked: Asked; readonly text?: string }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const type = request.headers['content-type'] ?? '';
  const bytes = Buffer.concat(chunks);
  if (type.startsWith('application/json')) {
    const text = bytes.toString();
    return { asked: JSON.parse(text) as Asked, text };
  }
  const body = new Response(bytes, { headers: { 'content-type': type } });
  return { asked: Object.fromEntries(await body.formData()) };
}

async function write(
  response: ServerResponse,
  script: StreamScript,
  sent: { bytes: number },
): Promise<void> {
  const { status = 200, headers = {}, pieces, ends = 'end', everyMs = 0 } = script;
  response.writeHead(status, { 'content-type': 'text/event-stream', ...headers });
  response.flushHeaders();
  for (const piece of pieces) {
    if (response.destroyed) return;
    sent.bytes += Buffer.byteLength(piece);
    if (!response.write(piece)) await drained(response);
    if (everyMs > 0) await new Promise((resolve) => setTimeout(resolve, everyMs));
    else await new Promise((resolve) => setImmediate(resolve));
  }
  if (ends === 'end') response.end();
  if (ends === 'cut') response.destroy();
}

/** Resolves when the client has room again, or is gone. */
const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const over = () => {
      response.off('drain', over);
      response.off('close', over);
      resolve();
    };
    response.once('drain', over);
    response.once('close', over);
  });

const HEAD = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'vendor' };

export const chunkEvent = (choices: readonly object[], more: object = { usage: null }): string =>
  `data: ${JSON.stringify({ ...HEAD, choices, ...more })}\n\n`;

export const deltaEvent = (delta: object): string =>
  chunkEvent([{ index: 0, delta, finish_reason: null }]);

export const textEvent = (content: string): string => deltaEvent({ content });

/** A piece of the so-manieth call of an answer. */
export const callEvent = (index: number, given: object, more: object = {}): string =>
  deltaEvent({ tool_calls: [{ index, ...more, function: given }] });

/** The model says why it ended. */
export const finishEvent = (finish_reason: string): string =>
  chunkEvent([{ index: 0, delta: {}, finish_reason }]);

export const USAGE = { prompt_tokens: 1_200, completion_tokens: 400, total_tokens: 1_600 };
export const usageEvent = (usage: object = USAGE): string => chunkEvent([], { usage });
export const DONE = 'data: [DONE]\n\n';

/** An answer of so many words, as an upstream that was asked for usage streams it. */
export const wordEvents = (words: readonly string[]): string[] => [
  deltaEvent({ role: 'assistant', content: '' }),
  ...words.map(textEvent),
  finishEvent('stop'),
];

/** An answer that calls one tool, its arguments in two pieces. */
export function toolCallEvents(call: {
  readonly function: { readonly name: string; readonly arguments: string };
}): string[] {
  const { name, arguments: whole } = call.function;
  return [
    deltaEvent({ role: 'assistant', content: null }),
    callEvent(0, { name, arguments: '' }, call),
    callEvent(0, { arguments: whole.slice(0, 6) }),
    callEvent(0, { arguments: whole.slice(6) }),
    finishEvent('tool_calls'),
  ];
}

/** The same answers whole. */
export const wholeAnswer = (
  message: { readonly content: string | null; readonly tool_calls?: readonly object[] },
  told: { readonly usage: unknown } = { usage: USAGE },
): StreamScript => ({
  headers: { 'content-type': 'application/json' },
  pieces: [
    JSON.stringify({
      ...HEAD,
      object: 'chat.completion',
      ...told,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', ...message },
          finish_reason: message.tool_calls === undefined ? 'stop' : 'tool_calls',
        },
      ],
    }),
  ],
});
