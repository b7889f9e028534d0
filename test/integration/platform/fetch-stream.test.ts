import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AnswerTooLarge, createFetch } from '../../../src/platform/egress/fetch.ts';
import { wholeOf } from '../../support/recorded-fetch.ts';

const PIECE = Buffer.alloc(10_000, 7);
const outbound = createFetch();
const gone: Promise<void>[] = [];
let url: string;
let left = 0;

/** Answers without end, until its reader has left. */
function pour(response: ServerResponse): void {
  gone.push(
    new Promise((resolve) => {
      response.on('close', () => {
        left++;
        resolve();
      });
    }),
  );
  const pump = () => {
    while (!response.destroyed && response.write(PIECE));
    response.once('drain', pump);
  };
  pump();
}

const server = createServer((request, response) => {
  if (request.url === '/short') response.end(PIECE);
  else pour(response);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await outbound.abort();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const ask = (path: string, maxResponseBytes = 50_000) =>
  outbound.fetchStream({ url: url + path, method: 'GET', timeoutMs: 10_000, maxResponseBytes });

it('a streamed response arrives whole, headers first', async () => {
  const { body, status } = await ask('/short');
  expect(status).toBe(200);
  expect(await wholeOf(body)).toEqual(PIECE);
});

it('a streamed response ends at its size limit, and its connection is freed', async () => {
  const { body } = await ask('/long');
  await expect(wholeOf(body)).rejects.toThrow(AnswerTooLarge);
  await Promise.all(gone);
  expect(left).toBe(1);
});

it('a reader that leaves a streamed response frees the connection, in the middle and before its first read', async () => {
  const before = left;
  const middle = await ask('/long', 1_000_000_000);
  for await (const _ of middle.body) break;
  const unread = await ask('/long', 1_000_000_000);
  await unread.body[Symbol.asyncIterator]().return?.();
  await Promise.all(gone);
  expect(left).toBe(before + 2);
});

it('each chunk of a streamed response is counted before it is kept, and refusing one ends the exchange', async () => {
  const before = gone.length;
  const counted: number[] = [];
  const refusal = new Error('no room');
  const request = { url: `${url}/long`, method: 'GET', timeoutMs: 10_000 } as const;
  const asked = outbound.fetch({
    ...request,
    maxResponseBytes: 1e9,
    onBytes(bytes) {
      counted.push(bytes);
      if (counted.length === 3) throw refusal;
    },
  });
  await expect(asked).rejects.toBe(refusal);
  await Promise.all(gone.slice(before));
  expect(counted).toHaveLength(3);
});
