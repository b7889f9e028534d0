import type { HttpResponse } from 'uWebSockets.js';
import { setMaxListeners } from 'node:events';
import { Pool } from 'undici';
import { loadUws } from '../src/http/server/uws.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { MODEL_LIMITS } from '../src/models/limits.ts';
import { collectAnswer } from '../src/models/providers/openai/collect-answer.ts';

const TARGET = {
  path: '/v1/chat/completions',
  method: 'POST',
  headers: { 'content-type': 'application/json' },
} as const;

/**
 * What the metering is measured against, over the same libraries: uWebSockets.js in, undici out. Whole answers are parsed
 * for their usage, streamed ones written piece by piece as they come.
 */
export async function openRelay(upstreamPort: number): Promise<number> {
  const uws = loadUws();
  const pool = new Pool(`http://127.0.0.1:${upstreamPort}`, { connections: 512 });
  const forever = new AbortController().signal;
  setMaxListeners(0, forever);
  const app = uws.App().post(TARGET.path, (response) => {
    response.onAborted(() => {});
    response.onData((chunk) => {
      const body = Buffer.from(Buffer.from(chunk));
      if (body.includes('"stream":true')) passOn(pool, response, body);
      else void collect(pool, response, body, forever);
    });
  });
  return new Promise<number>((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => resolve(uws.us_socket_local_port(socket as never)));
  });
}

async function collect(
  pool: Pool,
  response: HttpResponse,
  body: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const { answerBytes: maxBytes, totalMs } = MODEL_LIMITS.upstream;
  const bounds = { maxBytes, totalMs, clock: systemClock, signal };
  try {
    const answer = await collectAnswer(pool, { ...TARGET, body }, bounds);
    JSON.parse(answer.body.toString('utf8'));
    response.cork(() => {
      response.writeHeader('content-type', 'application/json').end(answer.body);
    });
  } catch {
    response.close();
  }
}

function passOn(pool: Pool, response: HttpResponse, body: Buffer): void {
  pool.dispatch(
    { ...TARGET, body },
    {
      onRequestStart() {},
      onResponseStart() {
        response.cork(() => response.writeHeader('content-type', 'text/event-stream'));
      },
      onResponseData: (_controller, data) => void response.cork(() => response.write(data)),
      onResponseEnd: () => void response.cork(() => response.end()),
      onResponseError: () => void response.close(),
    },
  );
}
