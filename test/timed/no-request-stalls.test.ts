import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import {
  expectNoStall,
  startWatchedServer,
  type WatchedServer,
} from '../support/watched-server.ts';

/** Nothing that one request or message brings keeps the event loop from others for longer. */
const MB = 1_000_000;
const MIB = 1_048_576;
const MULTIPART = 'multipart/form-data; boundary=b';

let upstream: Server;
let upstreamAnswer = '';
let server: WatchedServer;
beforeAll(async () => {
  upstream = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(upstreamAnswer);
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  server = await startWatchedServer(`http://127.0.0.1:${port}/v1`);
  // Code that runs for the first time is compiled.
  await post('/v1/chat/completions', chat('[{"role":"user","content":"2 + 3?"}]'));
  await post('/v1/audio/transcriptions', form(Buffer.alloc(1_000)), MULTIPART);
}, 120_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  upstream.close();
});

const nested = (bytes: number) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2);
const chat = (messages: string, model = 'local/guide') =>
  `{"model":"${model}","messages":${messages}}`;

function form(file: Buffer): Buffer {
  const part = (name: string, more = '') =>
    `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
  const head = `${part('model')}local/pocketsphinx\r\n${part('file', '; filename="a"')}`;
  return Buffer.concat([Buffer.from(head), file, Buffer.from('\r\n--b--\r\n')]);
}

async function post(
  path: string,
  body: string | Buffer,
  type = 'application/json',
): Promise<number> {
  const answer = await fetch(server.url + path, {
    method: 'POST',
    body: body as string,
    headers: { authorization: `Bearer ${server.keys[0]}`, 'content-type': type },
  });
  await answer.arrayBuffer();
  return answer.status;
}

const times = <T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)));

const REALTIME = '/v1/realtime?model=local/realtime';

const open = async (i: number, { url: at, keys } = server, path = REALTIME): Promise<WebSocket> => {
  const url = at.replace('http', 'ws') + path;
  const headers = { authorization: `Bearer ${keys[i % keys.length]}` };
  const socket = new WebSocket(url, { headers });
  socket.on('error', () => {});
  await once(socket, 'open');
  return socket;
};

/** Sends the same message many times on each of some sockets, and waits until they are closed or answer a last one. */
const flood = (sockets: number, count: number, message: string) =>
  times(sockets, async (i) => {
    const socket = await open(i);
    const over = new Promise<void>((resolve) => {
      socket.on('close', () => resolve());
      socket.on('message', (told) => String(told).includes('"last-one"') && resolve());
    });
    for (let sent = 0; sent < count; sent++) socket.send(message);
    socket.send('{"type":"no.such.event","event_id":"last-one"}');
    await over;
    socket.terminate();
  });

/** The same on another socket, which answers its last message with something that has this in it. */
const floodAt = (sockets: number, path: string, sent: readonly string[], answer: string) =>
  times(sockets, async (i) => {
    const socket = await open(i, server, path);
    const over = new Promise<void>((resolve) => {
      socket.on('close', () => resolve());
      socket.on('message', (told) => String(told).includes(answer) && resolve());
    });
    for (const message of sent) socket.send(message);
    await over;
    socket.terminate();
  });

const LISTEN = '/v1/listen?model=local/pocketsphinx';
const keyterms = Array.from({ length: 100 }, (_, i) => `${i}${'k'.repeat(140)}`);
const hundred = (message: object) => Array.from({ length: 100 }, () => JSON.stringify(message));
const configures = hundred({ type: 'Configure', keyterms });
const longTexts = hundred({ type: 'Speak', text: '. '.repeat(1_000) });

const EBML = Buffer.from('1a45dfa380', 'hex');
const fakeWebm = () =>
  form(Buffer.concat([EBML, Buffer.alloc(25 * MB, Buffer.from('ec80', 'hex'))]));
const tags = () => form(Buffer.alloc(25 * MB, Buffer.from('49443304000000000000', 'hex')));
const noise = Buffer.from(
  Int16Array.from({ length: 360_000 }, () => (Math.random() - 0.5) * 60_000).buffer,
).toString('base64');
const deepMessage = `{"type":"session.update","session":${nested(1_000_000)}}`;
const appendNoise = `{"type":"input_audio_buffer.append","audio":"${noise}"}`;
const longUpdate = JSON.stringify({
  type: 'session.update',
  session: { type: 'realtime', instructions: 'x'.repeat(60_000) },
});

const transcribe = (file: Buffer) => post('/v1/audio/transcriptions', file, MULTIPART);
const complete = (body: string) => post('/v1/chat/completions', body);
const count = (body: string) => post('/v1/messages/count_tokens', body);
/** What the encoder takes longest for: no word of it ends. */
const unbroken = `[{"role":"user","content":"${'ab'.repeat(2 * MB - 100)}"}]`;
const blocks = `[{"role":"user","content":[${'{"type":"text","text":"x"},'.repeat(12_000)}{"type":"text","text":"x"}]}]`;

const respond = (request: object | string) =>
  post('/v1/responses', typeof request === 'string' ? request : JSON.stringify(request));
const completion = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** Two responses of nearly as much as one may keep, read back and gone on with. */
const askResponse = (body: object): Promise<Response> =>
  fetch(`${server.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.keys[0]}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'acme/chat', ...body }),
  });

/** Asks for a response that is kept; its id. */
async function keepResponse(body: object): Promise<string> {
  const told = (await (await askResponse(body)).json()) as { id: string; store: boolean };
  expect(told).toMatchObject({ status: 'completed', store: true });
  return told.id;
}

const readItems = (id: string): Promise<Response> =>
  fetch(`${server.url}/v1/responses/${id}/input_items?limit=100`, {
    headers: { authorization: `Bearer ${server.keys[0]}` },
  });

async function conversationOfManyParts(): Promise<void> {
  upstreamAnswer = completion;
  const content = Array.from({ length: 12_000 }, () => ({ type: 'input_text', text: '' }));
  const input = [{ role: 'user', content }];
  const first = await keepResponse({ input });
  const next = await keepResponse({ input: 'And?', previous_response_id: first });
  const refused = await askResponse({ input, previous_response_id: next });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ error: { code: 'conversation_too_long' } });
  expect((await readItems(next)).status).toBe(200);
}

async function longConversation(): Promise<void> {
  upstreamAnswer = completion;
  const image = { type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(3.9 * MB)}` };
  const input = [{ role: 'user', content: [{ type: 'input_text', text: 'Look.' }, image] }];
  const first = await keepResponse({ input });
  const next = await keepResponse({ input, previous_response_id: first });
  await keepResponse({ input: 'And?', previous_response_id: next });
  expect((await readItems(next)).status).toBe(200);
}

const toolCall = (name: string, args: object) =>
  post(
    '/v1/mcp',
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args },
    }),
  );
const sound = () => ({ audio: Buffer.alloc(7 * MB, 0x55).toString('base64') });

const ATTACKS: Readonly<Record<string, () => Promise<unknown>>> = {
  '9.5 MB of nested lists': async () => expect(await complete(chat(nested(9.5 * MB)))).toBe(400),
  'four of them at once': () => times(4, () => complete(chat(nested(9.5 * MB)))),
  '9.9 MB of empty objects': async () =>
    expect(await complete(chat(`[${'{},'.repeat(3.3 * MB)}{}]`))).toBe(400),
  '9.9 MB of words': async () =>
    expect(await complete(chat(`[{"role":"user","content":"${'words '.repeat(1.6 * MB)}"}]`))).toBe(
      413,
    ),
  'four counts of 4 MB without a space': () =>
    times(4, async () => expect(await count(chat(unbroken))).toBe(200)),
  'four counts of 12,000 blocks': () =>
    times(4, async () => expect(await count(chat(blocks))).toBe(200)),
  'counts of what is nested and of what is too long': async () => {
    expect(await count(chat(nested(9.5 * MB)))).toBe(400);
    expect(await count(chat(`[{"role":"user","content":"${'words '.repeat(1.6 * MB)}"}]`))).toBe(
      413,
    );
  },
  'a message of 12,000 blocks and 3 MB': async () => {
    const system = 'words '.repeat(500_000);
    const body = `{"model":"acme/chat","max_tokens":50,"system":"${system}","messages":${blocks}}`;
    expect(await post('/v1/messages', body)).toBe(502);
  },
  'a 25 MB file that is a WebM of nothing': async () =>
    expect(await transcribe(fakeWebm())).toBe(400),
  'four of them at once, of which the last are told to wait': async () =>
    expect((await times(4, () => transcribe(fakeWebm()))).toSorted()).toContain(429),
  'the same body in the protocol of Deepgram': async () =>
    expect(
      await post(LISTEN, Buffer.concat([EBML, Buffer.alloc(25 * MB, 0xec)]), 'audio/webm'),
    ).toBe(400),
  '25 MB of samples without a head': async () =>
    expect(
      await post(
        `${LISTEN}&encoding=mulaw&sample_rate=8000`,
        Buffer.alloc(25 * MB, 0x55),
        'application/octet-stream',
      ),
    ).toBe(400),
  'an address that is a list of lists': async () =>
    expect(await post(LISTEN, nested(16_000))).toBe(400),
  'an address of 25 MB': async () =>
    expect(await post(LISTEN, `{"url":"${'x'.repeat(25 * MB)}"}`)).toBe(413),
  'a long text at another rate': () =>
    post(
      '/v1/speak?model=local/flite&encoding=linear16&sample_rate=48000',
      JSON.stringify({ text: 'Good morning. '.repeat(40) }),
    ),
  // As many as there are recognisers.
  'settings with a hundred key terms': () =>
    floodAt(1, '/v2/listen?model=local/pocketsphinx', [...configures, '{"type":"x"}'], 'UNPARS'),
  'texts of nothing but marks on five sockets': () =>
    floodAt(5, '/v1/speak?model=local/flite', [...longTexts, '{"type":"Clear"}'], 'Cleared'),
  'turns of nothing but marks on five sockets': () =>
    floodAt(5, '/v2/speak?model=local/flite', [...longTexts, '{"type":"Close"}'], 'SessionMet'),
  'a chain of ID3 tags': async () => expect(await transcribe(tags())).toBe(400),
  'an upstream’s answer of 8 MB that is nested': async () => {
    upstreamAnswer = `{"choices":${nested(8 * MB)}}`;
    expect(await complete(chat('[{"role":"user","content":"hi"}]', 'acme/chat'))).toBe(502);
  },
  'four tool calls with 7 MB of sound at once': () =>
    times(4, () => toolCall('transcribe', sound())),
  'a tool call that answers 1.9 MB of sound': () =>
    toolCall('speak', { text: 'Good morning. '.repeat(40), format: 'wav' }),
  'a tool call with 24,000 members': () =>
    toolCall('call_vendor', {
      url: 'http://127.0.0.1/',
      body: Object.fromEntries(Array.from({ length: 24_000 }, (_, i) => [`m${i}`, i])),
    }),
  '9.5 MB of nested lists for a tool': async () =>
    expect(await post('/v1/mcp', nested(9.5 * MB))).toBe(400),
  '9.5 MB of nested lists for a response': async () =>
    expect(await respond(`{"model":"acme/chat","input":${nested(9.5 * MB)}}`)).toBe(400),
  '9.9 MB of empty items for a response': async () =>
    expect(await respond(`{"model":"acme/chat","input":[${'{},'.repeat(3.3 * MB)}{}]}`)).toBe(400),
  '9,999 items for a response': async () => {
    upstreamAnswer = completion;
    const input = Array.from({ length: 9_999 }, () => ({ role: 'user', content: 'x'.repeat(300) }));
    expect(await respond({ model: 'acme/chat', input })).toBe(200);
  },
  'tools of 3 MB that a response would repeat': async () => {
    const tool = { type: 'function', name: 'f', description: 'x'.repeat(3 * MB), parameters: {} };
    expect(await respond({ model: 'acme/chat', input: 'x', tools: [tool] })).toBe(400);
  },
  'a conversation of 8 MB that is kept and read back': longConversation,
  'a conversation that grows by 24,000 members a request': conversationOfManyParts,
  '52 nested messages of a megabyte on five sockets': () => flood(5, 11, deepMessage),
  'appends of noise on five sockets': () => flood(5, 8, appendNoise),
  'session updates of 60 KB on five sockets': () => flood(5, 100, longUpdate),
};

describe('the event loop', () => {
  it('the stall monitor of the event loop sees a stall of 120 ms', async () => {
    expect(await server.stallFor(120)).toBeGreaterThan(100);
  });

  it.each(Object.entries(ATTACKS))(
    'the event loop stalls for at most 50 ms at %s',
    (_, attack) => expectNoStall(server, attack),
    180_000,
  );
});

describe('the memory of the server', () => {
  it('sixty sockets with unfinished messages of 15 MiB are closed before the server grows by 150 MiB', async () => {
    // One that has served nothing big yet: another has memory left over that it grows into unseen.
    await using fresh = await startWatchedServer('http://127.0.0.1:9/v1');
    const first = await sendUnfinished(fresh, 60, 1);
    // Open sessions load all recognisers, one after another, each of 125 MB, whatever is sent. One takes up to 3 s.
    const grownMib = async () => (await fresh.watch(() => setTimeout(4_000))).rssBytes / MIB;
    await expect.poll(grownMib, { timeout: 60_000 }).toBeLessThan(4);
    for (const socket of first) socket.terminate();
    const { rssBytes } = await fresh.watch(async () => {
      const sockets = await sendUnfinished(fresh, 60, 15);
      const closed = () => sockets.filter(({ readyState }) => readyState === WebSocket.CLOSED);
      await expect.poll(() => closed().length, { timeout: 20_000 }).toBe(60);
    });
    expect(rssBytes).toBeLessThan(150 * MIB);
  }, 120_000);
});

/** Sends so much of a message on each of some sockets before any of them leaves. */
async function sendUnfinished(to: WatchedServer, sockets: number, mib: number) {
  const opened = await times(sockets, (i) => open(i, to));
  const piece = Buffer.alloc(MIB, ' ');
  await Promise.all(
    opened.map(async (socket) => {
      // A connection that is cut while it is written to may break with an error first.
      const closed = new Promise((resolve) => socket.on('close', resolve));
      for (let sent = 1; sent < mib; sent++) socket.send(piece, { binary: false, fin: false });
      const sent = new Promise((resolve) =>
        socket.send(piece, { binary: false, fin: false }, resolve),
      );
      await Promise.race([closed, sent]);
    }),
  );
  return opened;
}
