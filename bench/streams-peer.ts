/**
 * The other side of the streams bench, in a process of its own: an upstream that streams chat at a steady pace, and the
 * readers. Speaks to its parent over IPC: an order in, what was read out.
 */

import uws from 'uWebSockets.js';
import { Pool } from 'undici';
import { DONE, textEvent, usageEvent } from '../test/support/stream-upstream.ts';
import { pacedAnswer } from './paced-answer.ts';
import { callSideBySide, listenAsUpstream, obeyOrders } from './peer-process.ts';

export type StreamOrder = {
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Read side by side, one after another each. */
  readonly readers: number;
  readonly streams: number;
  /** Written in each. */
  readonly events: number;
};
export type Streamed = {
  /** From the request to the first event, of each stream. */
  readonly firstMs: readonly number[];
  /** Of all that were written. */
  readonly events: number;
  readonly broken: number;
};

const WORD = Buffer.from(textEvent('word '));
/** Of no more tokens than were asked for: a source that reports more than there can be is rested. */
const endOf = (words: number): Buffer => {
  const usage = { prompt_tokens: 60, completion_tokens: words, total_tokens: 60 + words };
  return Buffer.from(usageEvent(usage) + DONE);
};
/** The upstream writes as many events as the cap says. */
const bodyOf = (events: number): string =>
  JSON.stringify({
    model: 'bench/model',
    max_tokens: events,
    stream: true,
    messages: [{ role: 'user', content: 'y'.repeat(180) }],
  });

const pools = new Map<number, Pool>();

function poolOf(port: number): Pool {
  const pool = pools.get(port) ?? new Pool(`http://127.0.0.1:${port}`, { connections: 512 });
  pools.set(port, pool);
  return pool;
}

async function readStream({ port, headers, events: wanted }: StreamOrder) {
  const startedMs = performance.now();
  const { body, statusCode } = await poolOf(port).request({
    path: '/v1/chat/completions',
    method: 'POST',
    body: bodyOf(wanted),
    headers: { 'content-type': 'application/json', ...headers },
  });
  let firstMs = 0;
  let text = '';
  for await (const chunk of body) {
    if (firstMs === 0) firstMs = performance.now() - startedMs;
    text += chunk;
  }
  const events = text.split('"word "').length - 1;
  return { firstMs, events, isWhole: statusCode === 200 && text.includes('[DONE]') };
}

async function read(order: StreamOrder): Promise<Streamed> {
  const firstMs: number[] = [];
  let events = 0;
  let broken = 0;
  await callSideBySide({ callers: order.readers, requests: order.streams }, async () => {
    const stream = await readStream(order);
    firstMs.push(stream.firstMs);
    events += stream.events;
    if (!stream.isWhole) broken++;
  });
  return { firstMs, events, broken };
}

const answer = pacedAnswer(({ max_tokens: words }: { max_tokens: number }) => [
  ...Array<Buffer>(words).fill(WORD),
  endOf(words),
]);

listenAsUpstream(uws.App().post('/v1/chat/completions', answer));
obeyOrders(read);
