import { createHmac } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/kernel/clock.ts';
import { callFunction } from '../../../../src/phone/tools/call-function.ts';
import { guardedClient } from '../../../support/guarded.ts';
import { startReceiver } from '../../../support/receiver.ts';

const SECRET = `whsec_${'ab'.repeat(32)}`;
const HUGE = 100_000_000;
const PARTIES = {
  callId: 'CA1',
  from: '+14155550100',
  to: '+14155550199',
  direction: 'inbound',
} as const;

function asked(url: string, timeoutMs = 2_000) {
  const tool = {
    type: 'function',
    name: 'book',
    description: 'Books.',
    parameters: { type: 'object' },
    url,
    timeoutMs,
  } as const;
  const call = {
    toolCallId: 'call_1',
    args: { people: 2 },
    parties: PARTIES,
    taskId: 'ca1',
    signal: new AbortController().signal,
  };
  return callFunction({ client: guardedClient(), clock: systemClock, secret: SECRET }, tool, call);
}

describe('callFunction', () => {
  it('callFunction posts the arguments once, signed by Standard Webhooks, and returns the answer', async () => {
    await using receiver = await startReceiver();
    receiver.answers((_, response) => response.writeHead(200).end('{"ok":true}'));
    expect(await asked(receiver.url)).toEqual({
      outcome: 'done',
      output: '{"ok":true}',
      costRaw: 0n,
    });
    expect(receiver.received).toHaveLength(1);
    const [one] = receiver.received;
    expect(one?.event).toEqual({
      type: 'tool.call',
      toolCallId: 'call_1',
      name: 'book',
      arguments: { people: 2 },
      call: { ...PARTIES, taskId: 'ca1' },
    });
    const {
      'webhook-id': id,
      'webhook-signature': signature,
      'webhook-timestamp': at,
    } = one?.headers ?? {};
    expect(id).toBe('CA1.call_1');
    const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
    const mac = createHmac('sha256', key).update(`${id}.${at}.${one?.body}`).digest('base64');
    expect(signature).toBe(`v1,${mac}`);
  });

  it.each([
    ['refuses', 500, 'no', /status 500/],
    ['redirects', 302, '', /status 302/],
    ['answers too much', 200, 'x'.repeat(40_000), /more than 32768 bytes/],
  ])(
    'callFunction gives the model an error for a function that %s',
    async (_, status, body, message) => {
      await using receiver = await startReceiver();
      receiver.answers((_one, response) =>
        response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(body),
      );
      const { outcome, output } = await asked(receiver.url);
      expect(outcome).toBe('failed');
      expect(JSON.parse(output).error).toMatch(message);
      expect(receiver.received).toHaveLength(1);
    },
  );

  it('callFunction gives up a slow function, one that never ends its answer, and one that is not there', async () => {
    await using receiver = await startReceiver();
    receiver.answers(() => {});
    const slow = await asked(receiver.url, 500);
    expect(JSON.parse(slow.output).error).toMatch(/within 0.5 s. It may have been carried out/);
    const timers: NodeJS.Timeout[] = [];
    receiver.answers((_, response) => {
      response.writeHead(200);
      timers.push(setInterval(() => response.write('x'), 20));
    });
    const endless = await asked(receiver.url, 500);
    for (const timer of timers) clearInterval(timer);
    expect(JSON.parse(endless.output).error).toMatch(/within 0.5 s/);
    expect((await asked('http://127.0.0.1:1/')).outcome).toBe('failed');
  });

  it.each([
    ['that it announces', { 'content-length': String(HUGE) }],
    ['in chunks', {}],
  ])('callFunction refuses an answer of 100 MB %s before it is read whole', async (_, headers) => {
    await using receiver = await startReceiver();
    const piece = Buffer.alloc(65_536, 'x');
    let sent = 0;
    receiver.answers((_one, response) => {
      response.writeHead(200, headers);
      const more = () => {
        while (sent < HUGE && !response.destroyed) {
          sent += piece.length;
          if (!response.write(piece)) return void response.once('drain', more);
        }
      };
      more();
    });
    const { outcome, output } = await asked(receiver.url);
    expect(outcome).toBe('failed');
    expect(JSON.parse(output).error).toMatch(/more than 32768 bytes/);
    // What the kernel has taken for a reader that left.
    expect(sent).toBeLessThan(HUGE / 4);
  });

  it.each([
    ['broken JSON', Buffer.from('{"ok":'), '{"ok":'],
    ['nothing', Buffer.from(''), ''],
    ['half of a character', Buffer.from([0x61, 0xe2, 0x82]), 'a\ufffd'],
    ['a NUL', Buffer.from('a\u0000b'), 'ab'],
    [
      'half of a surrogate pair as bytes',
      Buffer.from([0xed, 0xa0, 0x80, 0x62]),
      '\ufffd\ufffd\ufffdb',
    ],
  ])(
    'callFunction passes %s to the model as text that the database can store',
    async (_, body, output) => {
      await using receiver = await startReceiver();
      receiver.answers((_one, response) => response.writeHead(200).end(body));
      expect(await asked(receiver.url)).toEqual({ outcome: 'done', output, costRaw: 0n });
    },
  );

  it.each(['http://127.0.0.1:1/', 'http://10.0.0.1/', 'http://169.254.169.254/latest/meta-data/'])(
    'callFunction does not follow a redirect to %s',
    async (location) => {
      await using receiver = await startReceiver();
      receiver.answers((_one, response) => response.writeHead(307, { location }).end());
      const { outcome, output } = await asked(receiver.url);
      expect([outcome, JSON.parse(output).error]).toEqual([
        'failed',
        'The function answered with the status 307.',
      ]);
      expect(receiver.received).toHaveLength(1);
    },
  );

  it('callFunction gives up a server that sends a header now and then for ever', async () => {
    let timer: NodeJS.Timeout | undefined;
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.write('HTTP/1.1 200 OK\r\n');
      timer = setInterval(() => socket.write(`x-${Math.random()}: y\r\n`), 20);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { outcome, output } = await asked(`http://127.0.0.1:${port}/`, 500);
    clearInterval(timer);
    server.close();
    expect(outcome).toBe('failed');
    expect(JSON.parse(output).error).toMatch(/within 0.5 s/);
  });
});
