/**
 * The other side of the gateway bench, in a process of its own: an upstream without latency, and the
 * callers. Speaks to its parent over IPC: a `LoadOrder` in, a `Load` out.
 */

import uws from 'uWebSockets.js';
import { Pool } from 'undici';
import { callSideBySide, listenAsUpstream, obeyOrders } from './peer-process.ts';

export type LoadOrder = {
  readonly port: number;
  readonly requests: number;
  readonly callers: number;
  readonly headers: Readonly<Record<string, string>>;
};
/** How long each request took, and how many were answered a second. */
export type Load = { readonly tookMs: readonly number[]; readonly perSecond: number };

const COMPLETION = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_735_689_600,
  model: 'bench',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'x'.repeat(560), refusal: null },
      finish_reason: 'stop',
      logprobs: null,
    },
  ],
  usage: {
    prompt_tokens: 64,
    completion_tokens: 140,
    total_tokens: 204,
    prompt_tokens_details: { cached_tokens: 0 },
  },
});

const BODY = JSON.stringify({
  model: 'bench/model',
  max_tokens: 200,
  messages: [
    { role: 'system', content: 'You answer briefly.' },
    { role: 'user', content: 'y'.repeat(180) },
  ],
});

async function apply(order: LoadOrder): Promise<Load> {
  const { port, requests, callers } = order;
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: callers });
  const headers = { 'content-type': 'application/json', ...order.headers };
  const tookMs: number[] = [];
  const startedMs = performance.now();
  await callSideBySide(order, async () => {
    const sentMs = performance.now();
    const path = '/v1/chat/completions';
    const { statusCode, body } = await pool.request({ path, method: 'POST', headers, body: BODY });
    await body.text();
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
    tookMs.push(performance.now() - sentMs);
  });
  const perSecond = (requests * 1_000) / (performance.now() - startedMs);
  await pool.close();
  return { tookMs, perSecond };
}

listenAsUpstream(
  uws.App().post('/v1/chat/completions', (response) => {
    response.onAborted(() => {});
    response.onData((_chunk, isLast) => {
      if (isLast) response.writeHeader('content-type', 'application/json').end(COMPLETION);
    });
  }),
);
obeyOrders(apply);
