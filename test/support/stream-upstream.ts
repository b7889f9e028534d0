import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

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

export type StreamUpstream = AsyncDisposable & {
  readonly baseUrl: string;
  readonly seen: Record<string, unknown>[];
  /** Answers that were not read to their end. */
  readonly abandoned: { count: number };
  play(script: StreamScript): void;
};

/** A peer that streams what it is told, piece by piece; each piece is a write of its own. */
export async function streamUpstream(): Promise<StreamUpstream> {
  const seen: Record<string, unknown>[] = [];
  const abandoned = { count: 0 };
  let script: StreamScript = { pieces: [] };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen.push(JSON.parse(Buffer.concat(chunks).toString('utf8')));
      response.socket?.setNoDelay(true);
      response.once('close', () => {
        if (!response.writableFinished) abandoned.count++;
      });
      void write(response, script);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...{ seen, abandoned, baseUrl: `http://127.0.0.1:${port}/v1` },
    play(next) {
      script = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function write(response: ServerResponse, script: StreamScript): Promise<void> {
  const { status = 200, headers = {}, pieces, ends = 'end', everyMs = 0 } = script;
  response.writeHead(status, { 'content-type': 'text/event-stream', ...headers });
  response.flushHeaders();
  for (const piece of pieces) {
    if (response.destroyed) return;
    if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve));
    if (everyMs > 0) await new Promise((resolve) => setTimeout(resolve, everyMs));
    else await new Promise((resolve) => setImmediate(resolve));
  }
  if (ends === 'end') response.end();
  if (ends === 'cut') response.destroy();
}

const HEAD = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'vendor' };

export const chunkEvent = (choices: readonly object[], more: object = { usage: null }): string =>
  `data: ${JSON.stringify({ ...HEAD, choices, ...more })}\n\n`;

export const textEvent = (content: string): string =>
  chunkEvent([{ index: 0, delta: { content }, finish_reason: null }]);

export const USAGE = { prompt_tokens: 1_200, completion_tokens: 400, total_tokens: 1_600 };
export const usageEvent = (usage: object = USAGE): string => chunkEvent([], { usage });
export const DONE = 'data: [DONE]\n\n';

/** An answer of so many words, as an upstream that was asked for usage streams it. */
export const wordEvents = (words: readonly string[]): string[] => [
  chunkEvent([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
  ...words.map(textEvent),
  chunkEvent([{ index: 0, delta: {}, finish_reason: 'stop' }]),
];
