import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ok, route, streamedBody } from '../../../src/http/route/route.ts';
import { type Edge, startEdge } from '../../support/edge.ts';
import { farClient } from '../../support/far-client.ts';
import { rawRequest } from '../../support/raw-socket.ts';

/** The socket library closes an idle connection after 10 s, give or take the 4 s between two looks. */
const LONG_MS = 15_000;
const CLOSED_WITHIN_MS = 30_000;
const TEXT = 'x'.repeat(4 * 1024 * 1024);
const BODY = JSON.stringify({ text: TEXT });

const state = { begun: 0, left: 0 };

const posted = { method: 'POST', credential: 'none', summary: 'test' } as const;
const MOST = 64 * 1024 * 1024;
const streamed = { ...posted, body: streamedBody('application/json'), maxBodyBytes: MOST };

async function lengthOf(body: AsyncIterable<Uint8Array>, onFirst = async () => {}) {
  let bytes = 0;
  for await (const piece of body) {
    if (bytes === 0) await onFirst();
    bytes += piece.byteLength;
  }
  return bytes;
}

const ROUTES = [
  route()({
    ...posted,
    path: '/json',
    body: z.object({ text: z.string() }),
    maxBodyBytes: MOST,
    async handle({ body }) {
      await wait(LONG_MS);
      return ok({ bytes: body.text.length + 11 });
    },
  }),
  route()({
    ...streamed,
    path: '/read-at-once',
    async handle({ body }) {
      const bytes = await lengthOf(body);
      await wait(LONG_MS);
      return ok({ bytes });
    },
  }),
  route()({
    ...streamed,
    path: '/read-late',
    async handle({ body }) {
      await wait(LONG_MS);
      return ok({ bytes: await lengthOf(body) });
    },
  }),
  route()({
    ...streamed,
    path: '/read-with-a-rest',
    handle: async ({ body }) => ok({ bytes: await lengthOf(body, () => wait(LONG_MS)) }),
  }),
  route()({
    ...posted,
    path: '/left',
    body: z.object({ text: z.string() }),
    maxBodyBytes: MOST,
    async handle({ signal }) {
      state.begun += 1;
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve());
      });
      state.left += 1;
      return ok({});
    },
  }),
];

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({ routes: ROUTES });
});
afterAll(async () => {
  await edge[Symbol.asyncDispose]();
});

const sent = (path: string, bytes = BODY.length): Uint8Array => {
  const head = ['Content-Type: application/json', `Content-Length: ${BODY.length}`];
  return Buffer.from(rawRequest(`POST ${path}`, head, BODY.slice(0, bytes)));
};

describe('a body of 4 MiB', () => {
  it.concurrent.each(['/json', '/read-at-once', '/read-late', '/read-with-a-rest'])(
    'a request body of 4 MiB is answered after 15 s on %s',
    async (path) => {
      const client = farClient(edge.port, sent(path));
      expect(await client.until(`{"bytes":${BODY.length}}`)).toContain('200 OK');
      await client.leave();
    },
  );

  it.concurrent.each(['/json', '/read-at-once'])(
    'a request body that stops before its end has its connection to %s closed',
    async (path) => {
      const startedMs = performance.now();
      const client = farClient(edge.port, sent(path, 3 * 1024 * 1024));
      expect(await client.until('HTTP')).toBe('');
      expect(performance.now() - startedMs).toBeLessThan(CLOSED_WITHIN_MS);
      await client.leave();
    },
  );

  it.concurrent('a handler’s signal is aborted within 3 s after its client has left', async () => {
    for (let i = 0; i < 5; i++) {
      const client = farClient(edge.port, sent('/left'));
      await expect.poll(() => state.begun, { timeout: 5_000 }).toBe(i + 1);
      await client.leave();
      await expect.poll(() => state.left, { timeout: 3_000 }).toBe(i + 1);
    }
  });
});
