import zlib from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ok, route, streamedBody } from '../../../src/http/route/route.ts';
import { type Edge, startEdge } from '../../support/edge.ts';
import { usualStallMs } from '../../support/longest-stall.ts';

const MOST = 10 * 1024 * 1024;
const posted = { method: 'POST', credential: 'none', summary: 'test', maxBodyBytes: MOST } as const;

const ROUTES = [
  route()({
    ...posted,
    path: '/json',
    body: z.object({ text: z.string() }),
    handle: ({ body }) => ok({ chars: body.text.length }),
  }),
  route()({
    ...posted,
    path: '/stream',
    body: streamedBody('application/octet-stream'),
    async handle({ body }) {
      let bytes = 0;
      for await (const piece of body) bytes += piece.byteLength;
      return ok({ bytes });
    },
  }),
];

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({ routes: ROUTES });
});
afterAll(() => edge[Symbol.asyncDispose]());

async function send(path: string, coding: string | undefined, body: Buffer | string) {
  const headers = {
    'content-type': 'application/json',
    ...(coding !== undefined && { 'content-encoding': coding }),
  };
  const answer = await fetch(`${edge.url}${path}`, { method: 'POST', headers, body });
  const said = (await answer.json()) as Record<string, unknown>;
  return { status: answer.status, said, accept: answer.headers.get('accept-encoding') };
}

describe('a request body with a Content-Encoding', () => {
  it.each([
    ['gzip', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['br', zlib.brotliCompressSync],
  ] as const)(
    'a request body with Content-Encoding %s is read like the same body without encoding',
    async (coding, compress) => {
      const text = JSON.stringify({ text: 'é'.repeat(100_000) });
      expect(await send('/json', coding, compress(text))).toMatchObject({
        status: 200,
        said: { chars: 100_000 },
      });
      expect(await send('/stream', coding, compress(text))).toMatchObject({
        status: 200,
        said: { bytes: 200_011 },
      });
    },
  );

  it('a request body in an unsupported Content-Encoding answers 415 with the supported ones', async () => {
    const answer = await send('/json', 'compress', 'x');
    expect(answer).toMatchObject({ status: 415, said: { error: 'unsupported_content_encoding' } });
    expect(answer.accept).toMatch(/^gzip, deflate, br/);
  });

  it('a request body that does not match its Content-Encoding answers 400', async () => {
    for (const path of ['/json', '/stream']) {
      const { status, said } = await send(path, 'gzip', '{"text":"plain"}');
      expect([status, said.details]).toEqual([
        400,
        [expect.objectContaining({ code: 'invalid_content_encoding' })],
      ]);
    }
  });

  it('a compressed body is refused once it inflates beyond the route’s limit, without a stall', async () => {
    const bombs = (['br', 'gzip'] as const).map((coding) => {
      const zeros = Buffer.alloc(64 * 1024 * 1024);
      return [
        coding,
        coding === 'br' ? zlib.brotliCompressSync(zeros) : zlib.gzipSync(zeros),
      ] as const;
    });
    const stallMs = await usualStallMs(50, async () => {
      for (const [coding, bomb] of bombs) {
        for (const path of ['/json', '/stream']) {
          expect(await send(path, coding, bomb)).toMatchObject({
            status: 413,
            said: { limit_bytes: MOST },
          });
        }
      }
    });
    expect(stallMs).toBeLessThan(50);
  });

  it('the inflated size of a compressed body counts as its caller’s memory, and is released after the request', async () => {
    const text = zlib.gzipSync(JSON.stringify({ text: 'x'.repeat(9_000_000) }));
    for (let i = 0; i < 10; i++) expect((await send('/json', 'gzip', text)).status).toBe(200);
  });
});

it('a JSON body may begin with a byte order mark', async () => {
  expect(await send('/json', undefined, '\ufeff{"text":"abc"}')).toMatchObject({
    status: 200,
    said: { chars: 3 },
  });
  expect((await send('/json', undefined, '\ufeff\ufeff{"text":"abc"}')).status).toBe(400);
});
