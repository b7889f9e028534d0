import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { EGRESS_LIMITS } from '../../../src/platform/egress/limits.ts';
import { BadRequestHeader, BodyTooLarge } from '../../../src/platform/egress/send-failed.ts';
import { at, failureOf, guardedClient, request, textOf } from '../../support/guarded.ts';
import { answering, rawAnswer, startRawServer } from '../../support/raw-server.ts';

/** What goes out is what was asked, what comes in is what came, and neither has more than its bound. */

const chunked = (...chunks: readonly string[]) =>
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks
    .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    .join('')}`;

describe('what goes out', () => {
  it('the egress client sends the request as given, and frames the body itself', async () => {
    await using server = await startRawServer({
      data: (peer) => {
        if (peer.received.endsWith('{"ä":1}'.replace('ä', '\u00c3\u00a4'))) {
          peer.socket.write(rawAnswer('ok'));
        }
      },
    });
    await using client = guardedClient();
    const url = `http://vendor.example:${server.port}/a%20b/c?d=e&f=%2F`;
    const answer = await client.send(
      at(server.port, { url }),
      request({
        method: 'PATCH',
        headers: [
          ['X-Twice', 'one'],
          ['Content-Type', 'application/json'],
          ['x-twice', 'two'],
          ['Host', 'other.example'],
          ['Content-Length', '1'],
          ['Transfer-Encoding', 'chunked'],
          ['Expect', '100-continue'],
          ['Connection', 'x-hop, close'],
          ['X-Hop', 'gone'],
          ['Proxy-Authorization', 'gone'],
          ['X-Latin', 'caf\u00e9'],
        ],
        body: '{"ä":1}',
      }),
    );
    expect(await textOf(answer.body)).toBe('ok');
    expect(server.peers[0]?.received.split('\r\n')).toEqual([
      'PATCH /a%20b/c?d=e&f=%2F HTTP/1.1',
      `host: vendor.example:${server.port}`,
      'connection: keep-alive',
      'X-Twice: one',
      'Content-Type: application/json',
      'x-twice: two',
      'X-Latin: caf\u00e9',
      'content-length: 8',
      '',
      '{"\u00c3\u00a4":1}',
    ]);
  });

  it('the egress client refuses a header that could become two, before it connects', async () => {
    await using server = await startRawServer({});
    await using client = guardedClient();
    for (const header of [
      ['x-a', 'b\r\nx-c: d'],
      ['x-a', 'b\nc'],
      ['x-a', 'b\0'],
      ['x-a', '\u0100'],
      ['x-a\r\nx-b', 'c'],
      ['x a', 'b'],
      ['', 'b'],
      ['x-a:', 'b'],
    ] as const) {
      const sent = client.send(at(server.port), request({ headers: [header] }));
      await expect(sent).rejects.toBeInstanceOf(BadRequestHeader);
    }
    expect(server.peers).toHaveLength(0);
  });
});

describe('what comes in', () => {
  it('the egress client returns status and headers as received, with repetitions and raw bytes', async () => {
    const head = [
      'Set-Cookie: a=1; Path=/',
      'X-Odd:   caf\u00e9  ',
      'set-cookie: b=2',
      'X-Empty:',
      'SET-COOKIE: a=1; Path=/',
      'Connection: keep-alive',
    ];
    const answer = rawAnswer('x', head, '418 I am a Teapot');
    await using server = await startRawServer({ data: answering(answer) });
    await using client = guardedClient();
    const got = await client.send(at(server.port), request());
    expect(got.status).toBe(418);
    expect(got.headers).toEqual([
      ['Set-Cookie', 'a=1; Path=/'],
      ['X-Odd', 'caf\u00e9'],
      ['set-cookie', 'b=2'],
      ['X-Empty', ''],
      ['SET-COOKIE', 'a=1; Path=/'],
      ['Connection', 'keep-alive'],
      ['Content-Length', '1'],
    ]);
    expect(await textOf(got.body)).toBe('x');
  });

  it('the egress client returns a redirect like any other response, and does not follow it', async () => {
    await using other = await startRawServer({});
    for (const status of [301, 302, 303, 307, 308]) {
      const location = `Location: http://127.0.0.1:${other.port}/`;
      const answer = rawAnswer('there', [location], `${status} Elsewhere`);
      await using server = await startRawServer({ data: answering(answer) });
      await using client = guardedClient();
      const got = await client.send(at(server.port), request());
      expect(got.status).toBe(status);
      expect(got.headers[0]).toEqual(['Location', `http://127.0.0.1:${other.port}/`]);
      expect(await textOf(got.body)).toBe('there');
      expect(server.requests()).toBe(1);
    }
    expect(other.peers).toHaveLength(0);
  });

  it('the egress client returns the bytes as received, and does not decompress them', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000)).toString('latin1');
    const answer = rawAnswer(bomb, ['Content-Encoding: gzip']);
    await using server = await startRawServer({ data: answering(answer) });
    await using client = guardedClient();
    const got = await client.send(at(server.port), request());
    expect(await textOf(got.body)).toBe(bomb);
  });

  it('the egress client reads a body of any framing whole, past interim responses and trailers', async () => {
    const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
    for (const answer of [
      `${interim}${interim}${rawAnswer('hello')}`,
      `${chunked('hel', 'lo')}0\r\nX-Trailer: t\r\n\r\n`,
      `${chunked('hel', 'lo').replace('3\r\n', '3;ext=1\r\n')}0\r\n\r\n`,
    ]) {
      await using server = await startRawServer({ data: answering(answer) });
      await using client = guardedClient();
      expect(await textOf((await client.send(at(server.port), request())).body)).toBe('hello');
    }
    await using server = await startRawServer({
      data: ({ socket }) => socket.end('HTTP/1.0 200 OK\r\n\r\nhello'),
    });
    await using client = guardedClient();
    expect(await textOf((await client.send(at(server.port), request())).body)).toBe('hello');
  });

  it('the egress client returns no body for HEAD, 204 and 304', async () => {
    for (const [method, status] of [
      ['HEAD', '200 OK'],
      ['GET', '304 Not Modified'],
      ['GET', '204 No Content'],
    ] as const) {
      const answer = `HTTP/1.1 ${status}\r\n${method === 'HEAD' ? 'Content-Length: 99999999\r\n' : ''}\r\n`;
      await using server = await startRawServer({ data: answering(answer) });
      await using client = guardedClient();
      const got = await client.send(at(server.port), request({ method }));
      expect(await textOf(got.body)).toBe('');
    }
  });
});

describe('an answer that is not HTTP', () => {
  const heads = {
    'two framings': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
    'two lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n',
    'a signed length': 'HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n',
    'a space before the colon': 'HTTP/1.1 200 OK\r\nX-A : b\r\n\r\n',
    'no version': '200 OK\r\n\r\n',
    'a nul in a header': 'HTTP/1.1 200 OK\r\nX-A: b\0c\r\n\r\n',
    'a status of four digits': 'HTTP/1.1 2000 OK\r\n\r\n',
    'too many interim answers': 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(20),
    'a head past its bound': `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`,
    'a head past its bound in many headers': `HTTP/1.1 200 OK\r\n${'X-A: b\r\n'.repeat(6_000)}\r\n`,
  };
  for (const [what, head] of Object.entries(heads)) {
    it(`the egress client fails on an HTTP response with ${what}`, async () => {
      await using server = await startRawServer({ data: answering(head) });
      await using client = guardedClient();
      const failed = await failureOf(client.send(at(server.port), request()));
      expect(failed).toMatchObject({ reason: 'broken', beforeBytes: false });
      expect(server.requests()).toBe(1);
    });
  }

  it('the egress client fails inside the body of a broken HTTP response, after the bytes received', async () => {
    for (const answer of [
      'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n',
    ]) {
      await using server = await startRawServer({ data: ({ socket }) => socket.end(answer) });
      await using client = guardedClient();
      const { body } = await client.send(at(server.port), request());
      let text = '';
      const read = async () => {
        for await (const chunk of body) text += Buffer.from(chunk).toString();
      };
      expect(await failureOf(read())).toMatchObject({ reason: 'broken', beforeBytes: false });
      expect(text).toBe('hello');
    }
  });
});

describe('an answer that takes its time', () => {
  const drip = (first: string, piece: string) => ({
    data: ({ socket }: { socket: import('node:net').Socket }) => {
      socket.write(first);
      const timer = setInterval(() => socket.write(piece), 20);
      socket.on('close', () => clearInterval(timer));
    },
  });

  it('the egress client gives up when the response headers do not come, even if other bytes arrive', async () => {
    for (const script of [
      drip('', ''),
      drip('HTTP/1.1 200 OK\r\nX-A: ', 'a'),
      drip('', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
      drip('HTTP/1.1 200 O', 'K'),
    ]) {
      await using server = await startRawServer(script);
      await using client = guardedClient();
      const sent = client.send(at(server.port), request({ timeouts: { firstByteMs: 150 } }));
      expect(await failureOf(sent)).toMatchObject({ reason: 'timeout', beforeBytes: false });
      await expect.poll(() => server.peers[0]?.socket.destroyed).toBe(true);
    }
  });

  it('the egress client gives up when the response body stalls', async () => {
    await using server = await startRawServer({
      data: ({ socket }) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel'),
    });
    await using client = guardedClient();
    const { body } = await client.send(at(server.port), request({ timeouts: { idleMs: 100 } }));
    expect(await failureOf(textOf(body))).toMatchObject({ reason: 'timeout', beforeBytes: false });
  });

  it('the egress client gives up on an endless response body, by time or by size', async () => {
    await using slow = await startRawServer(drip('HTTP/1.1 200 OK\r\n\r\n', 'x'));
    await using client = guardedClient();
    const timeouts = { idleMs: 100, totalMs: 300 };
    const { body } = await client.send(at(slow.port), request({ timeouts }));
    expect(await failureOf(textOf(body))).toMatchObject({ reason: 'timeout' });

    await using fast = await startRawServer({
      data: ({ socket }) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        const more = () => {
          while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
        };
        socket.on('drain', more);
        more();
      },
    });
    const endless = await client.send(at(fast.port), request({ maxResponseBytes: 1_000_000 }));
    let bytes = 0;
    const read = async () => {
      for await (const chunk of endless.body) bytes += chunk.byteLength;
    };
    await expect(read()).rejects.toBeInstanceOf(BodyTooLarge);
    expect(bytes).toBeLessThanOrEqual(1_000_000);
    await expect.poll(() => fast.peers[0]?.socket.destroyed).toBe(true);
  });

  it('the egress client does not start a response body whose declared length is too large', async () => {
    await using server = await startRawServer({ data: answering(rawAnswer('x'.repeat(2_000))) });
    await using client = guardedClient();
    const got = await client.send(at(server.port), request({ maxResponseBytes: 1_999 }));
    expect(got.status).toBe(200);
    await expect(textOf(got.body)).rejects.toBeInstanceOf(BodyTooLarge);
    const fits = await client.send(at(server.port), request({ maxResponseBytes: 2_000 }));
    expect((await textOf(fits.body)).length).toBe(2_000);
  });
});

describe('a reader that takes its time', () => {
  it('the egress client makes the server wait for a slow reader, who gets the whole body in the end', async () => {
    const total = 32 * 1024 * 1024;
    let written = 0;
    await using server = await startRawServer({
      data: ({ socket }) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`);
        const more = () => {
          while (written < total) {
            written += 65_536;
            if (!socket.write(Buffer.alloc(65_536, written / 65_536))) return;
          }
        };
        socket.on('drain', more);
        more();
      },
    });
    await using client = guardedClient();
    const timeouts = { idleMs: 1_000 };
    const asked = request({ maxResponseBytes: total, timeouts });
    const { body } = await client.send(at(server.port), asked);
    // Longer than the idle bound: that one is for the other side.
    await sleep(1_400);
    const stopped = written;
    await sleep(100);
    expect(written).toBe(stopped);
    // The queue here and the buffers of two sockets.
    expect(stopped).toBeLessThan(EGRESS_LIMITS.response.queueBytes + 16 * 1024 * 1024);
    let bytes = 0;
    for await (const chunk of body) {
      expect(chunk[0]).toBe((Math.floor(bytes / 65_536) + 1) & 0xff);
      bytes += chunk.byteLength;
    }
    expect(bytes).toBe(total);
  });

  it('the egress client waits for a slow reader until the deadline and no longer', async () => {
    await using server = await startRawServer({
      data: answering(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(1_000_000)}`),
    });
    await using client = guardedClient();
    const timeouts = { totalMs: 200 };
    const { body } = await client.send(at(server.port), request({ timeouts }));
    await expect.poll(() => server.peers[0]?.socket.destroyed).toBe(true);
    expect(await failureOf(textOf(body))).toMatchObject({ reason: 'timeout', beforeBytes: false });
  });

  it('the egress client ends the exchange when the reader leaves early or never reads', async () => {
    const endless = `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(1_000_000)}`;
    await using server = await startRawServer({ data: answering(endless) });
    await using client = guardedClient();
    const left = await client.send(at(server.port), request());
    for await (const _ of left.body) break;
    await expect.poll(() => server.peers[0]?.socket.destroyed).toBe(true);
    const discarded = await client.send(at(server.port), request());
    discarded.discard();
    await expect.poll(() => server.peers[1]?.socket.destroyed).toBe(true);
  });

  it('the egress client keeps the connection when the reader discards a complete body', async () => {
    await using server = await startRawServer({ data: answering(rawAnswer('small')) });
    await using client = guardedClient();
    for (let i = 0; i < 3; i++) {
      const answer = await client.send(at(server.port), request());
      await sleep(5);
      answer.discard();
    }
    expect(server.peers).toHaveLength(1);
  });
});
