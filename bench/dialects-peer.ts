/**
 * The other side of the dialects bench, in a process of its own: an upstream without latency that speaks chat, Responses and
 * Messages, whole or streamed at a steady pace, and the callers of all three. Speaks to its parent over IPC: a
 * `DialectOrder` in, a `DialectLoad` out.
 */

import uws from 'uWebSockets.js';
import { Pool } from 'undici';
import { type Dialect, streamOf, wholeOf } from './dialect-answers.ts';

export type DialectOrder = {
  readonly port: number;
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly requests: number;
  /** At a time. */
  readonly callers: number;
};
/** Of each request the milliseconds to its first bytes, and how many bytes came in all. */
export type DialectLoad = {
  readonly firstMs: readonly number[];
  readonly perSecond: number;
  /** Deltas with the word of the upstream that were read. */
  readonly words: number;
};

const EVERY_MS = 20;
const WORD = '"word "';

async function apply(order: DialectOrder): Promise<DialectLoad> {
  const { body, callers, path, port, requests } = order;
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: callers });
  const headers = { 'content-type': 'application/json', ...order.headers };
  const firstMs: number[] = [];
  let words = 0;
  let left = requests;
  const startedMs = performance.now();
  const caller = async () => {
    while (left-- > 0) {
      const sentMs = performance.now();
      const answer = await pool.request({ path, method: 'POST', headers, body });
      let text = '';
      let tookMs = 0;
      for await (const chunk of answer.body) {
        if (tookMs === 0) tookMs = performance.now() - sentMs;
        text += chunk;
      }
      if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}: ${text}`);
      firstMs.push(tookMs);
      words += text.split(WORD).length - 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const perSecond = (requests * 1_000) / (performance.now() - startedMs);
  await pool.close();
  return { firstMs, perSecond, words };
}

type Asked = { stream?: boolean; max_tokens?: number; max_output_tokens?: number };

/** Writes the pieces of a stream, the first of them at once. */
function write(response: uws.HttpResponse, pieces: readonly Buffer[], isOpen: () => boolean): void {
  let written = 0;
  const writeNext = () => {
    if (!isOpen()) return clearInterval(timer);
    const piece = pieces[written++] ?? '';
    response.cork(() => {
      if (written < pieces.length) response.write(piece);
      else response.end(piece);
    });
    if (written >= pieces.length) clearInterval(timer);
  };
  response.cork(() => response.writeHeader('content-type', 'text/event-stream'));
  const timer = setInterval(writeNext, EVERY_MS);
  writeNext();
}

function answer(dialect: Dialect) {
  const whole = wholeOf(dialect);
  const streams = new Map<number, readonly Buffer[]>();
  return (response: uws.HttpResponse) => {
    let isOpen = true;
    response.onAborted(() => {
      isOpen = false;
    });
    let body = '';
    response.onData((chunk, isLast) => {
      body += Buffer.from(chunk).toString();
      if (!isLast || !isOpen) return;
      const asked = JSON.parse(body) as Asked;
      if (asked.stream !== true) {
        response.writeHeader('content-type', 'application/json').end(whole);
        return;
      }
      const events = asked.max_tokens ?? asked.max_output_tokens ?? 1;
      const pieces = streams.get(events) ?? streamOf(dialect, events);
      streams.set(events, pieces);
      write(response, pieces, () => isOpen);
    });
  };
}

uws
  .App()
  .post('/v1/chat/completions', answer('chat'))
  .post('/v1/responses', answer('responses'))
  .post('/v1/messages', answer('messages'))
  .listen('127.0.0.1', 0, (socket) => {
    process.send?.({ upstreamPort: uws.us_socket_local_port(socket) });
  });

process.on('message', (order: DialectOrder) => {
  apply(order).then(
    (load) => process.send?.(load),
    (error: Error) => process.send?.({ failed: error.message }),
  );
});
process.on('disconnect', () => process.exit(0));
