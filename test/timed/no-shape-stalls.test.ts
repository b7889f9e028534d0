import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import {
  expectNoStall,
  startWatchedServer,
  type WatchedServer,
} from '../support/watched-server.ts';

/** Requests, messages and answers of hostile shapes, within their bounds, stall the event loop for at most 50 ms. */

let upstream: Server;
let upstreamAnswer = '';
let server: WatchedServer;
beforeAll(async () => {
  upstream = createServer((request, response) => {
    const type = upstreamAnswer.startsWith('data:') ? 'text/event-stream' : 'application/json';
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': type }).end(upstreamAnswer);
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  server = await startWatchedServer(`http://127.0.0.1:${port}/v1`);
}, 120_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  upstream.close();
});

let asked = 0;
/** Each request is of another agent, so that none of them reaches its rate. */
const authorization = () => `Bearer ${server.keys[asked++ % server.keys.length]}`;

async function post(path: string, body: object): Promise<number> {
  const answer = await fetch(server.url + path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: authorization(), 'content-type': 'application/json' },
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Keeps a response, and reads it and what it answers again. */
async function keepAndRead(body: object): Promise<void> {
  const headers = { authorization: authorization(), 'content-type': 'application/json' };
  const ask = async (path: string, init: object = {}) => {
    const answer = await fetch(server.url + path, { headers, ...init });
    expect(answer.status).toBe(200);
    return Buffer.from(await answer.arrayBuffer());
  };
  const asked = JSON.stringify({ model: 'acme/responses', input: 'x', ...body });
  const told = await ask('/v1/responses', { method: 'POST', body: asked });
  const [, id] = /"id":"(resp_[0-9a-f]+)"/.exec(told.toString()) ?? [];
  expect((await ask(`/v1/responses/${id}`)).equals(told)).toBe(true);
  const items = await ask(`/v1/responses/${id}/input_items`);
  expect(items.length).toBeGreaterThanOrEqual(JSON.stringify(body).length - 100);
}

type Model = 'chat' | 'claude' | 'responses';
const respond = (model: Model, body: object) =>
  post('/v1/responses', { model: `acme/${model}`, input: 'x', ...body });
const converse = (model: Model, body: object) =>
  post('/v1/messages', { model: `acme/${model}`, max_tokens: 5, messages: [user('x')], ...body });
const complete = (model: Model, body: object) =>
  post('/v1/chat/completions', { model: `acme/${model}`, messages: [user('x')], ...body });

/** Sends messages on a socket, and waits for an answer with `last` in it, before which one with `first` must come. */
async function send(
  path: string,
  messages: readonly string[],
  { first, last }: { readonly first: string; readonly last: string },
): Promise<void> {
  const socket = new WebSocket(server.url.replace('http', 'ws') + path, {
    headers: { authorization: authorization() },
  });
  socket.on('error', () => {});
  await once(socket, 'open');
  let hasFirst = false;
  const over = new Promise<void>((resolve, reject) => {
    socket.on('close', () => reject(new Error(`closed before ${hasFirst ? last : first}`)));
    socket.on('message', (data) => {
      const told = String(data);
      hasFirst ||= told.includes(first);
      if (!told.includes(last)) return;
      if (hasFirst) resolve();
      else reject(new Error(`${last} before ${first}`));
    });
  });
  for (const message of messages) socket.send(message);
  await over;
  socket.terminate();
}

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const membersOf = (count: number, value: unknown = 1) =>
  Object.fromEntries(times(count, (i) => [`key${i}`, value]));
const membersText = (count: number) => JSON.stringify(membersOf(count));
const user = (content: unknown) => ({ role: 'user', content });
const callOf = (name: string, given: string) => (_: unknown, i: number) => ({
  id: `call${i}`,
  type: 'function',
  function: { name, arguments: given },
});
const calls = (count: number, given: string) => times(count, () => 0).map(callOf('f', given));

const completion = (message: object) =>
  JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] });
const event = (data: string) => `data: ${data}\n\n`;
const chunk = (delta: string, more = '') =>
  event(`{"choices":[{"index":0,"delta":${delta}${more}}]}`);
const DONE = `${chunk('{}', ',"finish_reason":"stop"')}data: [DONE]\n\n`;
const ended = (response: string) =>
  event(`{"type":"response.completed","sequence_number":1,"response":${response}}`);

/** An answer of an upstream to a short question. */
const answered = (answer: string, ask: () => Promise<unknown>) => () => {
  upstreamAnswer = answer;
  return ask();
};
const manyMembers = `{"id":"r","status":"completed","output":[${membersText(99_000)}]}`;
const longCalls = completion({ role: 'assistant', tool_calls: calls(140, membersText(4_200)) });
const odds = chunk('{"content":"x"}', `,"logprobs":{"content":[${'{"t":1},'.repeat(90_000)}1]}`);
const turns = (chunk('{"content":"x"}') + chunk('{"reasoning":"x"}')).repeat(50_000);
const create = (model: Model) =>
  JSON.stringify({ type: 'response.create', model: `acme/${model}`, input: 'x', store: false });
/** The response is whole, so that the upstream's stream was read, before the refusal of what follows. */
const onSocket = (model: Model) => () =>
  send('/v1/responses', [create(model), '{}'], { first: '"response.completed"', last: 'must be' });

const ATTACKS: Readonly<Record<string, () => Promise<unknown>>> = {
  'a response of 99,000 parts that are none': async () =>
    expect(await respond('chat', { input: [user(times(99_000, () => 1))] })).toBe(400),
  'a message of 99,000 blocks that are none': async () =>
    expect(await converse('chat', { messages: [user(times(99_000, () => 1))] })).toBe(400),
  'a message of 49,000 empty blocks': async () =>
    expect(await converse('chat', { messages: [user(times(49_000, () => ({})))] })).toBe(400),
  '3,500 calls with nested arguments': async () => {
    const given = `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`;
    const messages = [user('x'), { role: 'assistant', tool_calls: calls(3_500, given) }];
    // The arguments go on as one text each. The upstream here does not answer as Claude does.
    expect(await complete('claude', { messages })).toBe(502);
  },
  'an upstream’s response of 99,000 members': answered(manyMembers, async () =>
    expect(await respond('responses', {})).toBe(200),
  ),
  'an upstream’s stream of one': answered(ended(manyMembers), async () =>
    expect(await respond('responses', { stream: true })).toBe(200),
  ),
  'a kept one, read again': answered(manyMembers, () => keepAndRead({})),
  'what a response answers, of 90,000 values, read again': answered(
    '{"id":"r","status":"completed","output":[]}',
    () => keepAndRead({ input: [{ ...user('x'), more: times(90_000, () => 1) }] }),
  ),
  'calls of an upstream with 9 MB of arguments, as a message': answered(longCalls, async () =>
    expect(await converse('chat', {})).toBe(200),
  ),
  'the same for a custom tool of a response': answered(longCalls, async () =>
    expect(await respond('chat', { tools: [{ type: 'custom', name: 'f' }] })).toBe(200),
  ),
  'a stream with the odds of 360,000 tokens': answered(odds.repeat(4) + DONE, async () =>
    expect(await respond('chat', { stream: true })).toBe(200),
  ),
  'the same on a socket': answered(odds.repeat(4) + DONE, onSocket('chat')),
  'a stream of 100,000 items': answered(turns + DONE, async () =>
    expect(await respond('chat', { stream: true })).toBe(200),
  ),
  'a stream of 4 MB of comments': answered(
    `data: {}\n\n${':\n\n'.repeat(1_400_000)}${chunk('{"content":"x"}')}${DONE}`,
    async () => expect(await respond('chat', { stream: true })).toBe(200),
  ),
  'an event of 330,000 lines': answered(
    `${'data:\n'.repeat(330_000)}\n${chunk('{"content":"x"}')}${DONE}`,
    async () => expect(await converse('chat', { stream: true })).toBe(200),
  ),
};

describe('the event loop', () => {
  it.each(Object.entries(ATTACKS))(
    'the event loop stalls for at most 50 ms at %s',
    (_, attack) => expectNoStall(server, attack),
    180_000,
  );
});
