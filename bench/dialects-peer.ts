/**
 * The other side of the dialects bench, in a process of its own: an upstream without latency that speaks chat, Responses and
 * Messages, whole or streamed at a steady pace, and the callers of all three. Speaks to its parent over IPC: a
 * `DialectOrder` in, a `DialectLoad` out.
 */

import uws from 'uWebSockets.js';
import { Pool } from 'undici';
import { type Dialect, streamOf, wholeOf } from './dialect-answers.ts';
import { pacedAnswer } from './paced-answer.ts';
import { callSideBySide, listenAsUpstream, obeyOrders } from './peer-process.ts';

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

const WORD = '"word "';

async function apply(order: DialectOrder): Promise<DialectLoad> {
  const { body, callers, path, port, requests } = order;
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: callers });
  const headers = { 'content-type': 'application/json', ...order.headers };
  const firstMs: number[] = [];
  let words = 0;
  const startedMs = performance.now();
  await callSideBySide(order, async () => {
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
  });
  const perSecond = (requests * 1_000) / (performance.now() - startedMs);
  await pool.close();
  return { firstMs, perSecond, words };
}

type Asked = { stream?: boolean; max_tokens?: number; max_output_tokens?: number };

function answer(dialect: Dialect) {
  const whole = wholeOf(dialect);
  const streams = new Map<number, readonly Buffer[]>();
  return pacedAnswer((asked: Asked) => {
    if (asked.stream !== true) return whole;
    const events = asked.max_tokens ?? asked.max_output_tokens ?? 1;
    const pieces = streams.get(events) ?? streamOf(dialect, events);
    streams.set(events, pieces);
    return pieces;
  });
}

listenAsUpstream(
  uws
    .App()
    .post('/v1/chat/completions', answer('chat'))
    .post('/v1/responses', answer('responses'))
    .post('/v1/messages', answer('messages')),
);
obeyOrders(apply);
