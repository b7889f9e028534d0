import { ResponsesWS } from 'openai/resources/responses/ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RESPONSES_LIMITS } from '../../../src/models/responses/limits.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { AGENT_KEY } from '../../support/gateway-world.ts';
import { RealtimeClient } from '../../support/realtime-client.ts';
import { RecordedSpan } from '../../support/recorded-span.ts';
import { CHAT_MODEL, OWN_MODEL, responsesWorld } from '../../support/responses-world.ts';
import {
  DONE,
  deltaEvent,
  finishEvent,
  usageEvent,
  wordEvents,
} from '../../support/stream-upstream.ts';

/** 1,200 tokens at 2.5 and 400 at 10, with five per cent. */
const METERED_RAW = 7_350n;
const WORDS = ['Good ', 'morning.'];
/** As long as 1,200 tokens are at least: an upstream is believed as far as its request can have come to. */
const PROMPT = 'Good morning?'.padEnd(1_300, '.');
const EVENTS = [
  'response.created',
  'response.in_progress',
  'response.output_item.added',
  'response.content_part.added',
  ...WORDS.map(() => 'response.output_text.delta'),
  'response.output_text.done',
  'response.content_part.done',
  'response.output_item.done',
  'response.completed',
];

let database: TestDatabase;
let world: Awaited<ReturnType<typeof responsesWorld>>;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  world = await responsesWorld({ sql: database.sql, chatMembers: ['user'] });
  world.chat.play({ pieces: [...wordEvents(WORDS), usageEvent(), DONE] });
  world.own.play({ items: [{ say: WORDS }] });
  return () => world[Symbol.asyncDispose]();
});

const hello = { model: CHAT_MODEL, input: PROMPT, store: false } as const;

async function connect(to = world) {
  const url = `${to.gateway.baseUrl.replace(/^http/, 'ws')}/responses`;
  const client = new RealtimeClient(url, [], { authorization: `Bearer ${AGENT_KEY}` });
  await client.opened();
  let read = 0;
  const next = (isWanted: (type: string) => boolean) =>
    client.until((event) => {
      const at = client.events.indexOf(event);
      if (at < read || !isWanted(event.type)) return false;
      read = at + 1;
      return true;
    });
  return Object.assign(client, {
    create: (more: object = {}) => client.say({ type: 'response.create', ...hello, ...more }),
    /** The next last event of a response that has not been read yet. */
    completed: async () => {
      const { response, ...event } = await next((type) => type === 'response.completed');
      return { ...event, response: response as { id: string; store: boolean; model: string } };
    },
    refused: async () => {
      const { error, status } = await next((type) => type === 'error');
      return { status, error: error as { code: string; param: string | null; message: string } };
    },
  });
}

describe("OpenAI's client over its WebSocket", () => {
  it.each([CHAT_MODEL, OWN_MODEL])(
    'the openai client’s WebSocket reads the events of a response, the last with its charged price: %s',
    async (model) => {
      const ws = new ResponsesWS(world.gateway.openai);
      ws.send({ type: 'response.create', ...hello, model });
      const events: { type: string; sequence_number?: number; cost_usdc?: string }[] = [];
      for await (const told of ws) {
        if (told.type === 'error') throw told.error;
        if (told.type === 'message') events.push(told.message);
        if (events.at(-1)?.type === 'response.completed') break;
      }
      ws.close();
      expect(events.map(({ type }) => type)).toEqual(EVENTS);
      expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at));
      expect(events.at(-1)).toMatchObject({ cost_usdc: `${METERED_RAW}`, response: { model } });
      expect(await world.charged()).toBe(METERED_RAW);
    },
  );

  it('the openai client’s WebSocket gets a refusal as an error event, and continues on the same connection', async () => {
    const ws = new ResponsesWS(world.gateway.openai);
    const told = new Promise<unknown>((resolve) => ws.on('error', ({ error }) => resolve(error)));
    ws.send({ type: 'response.create', ...hello, model: 'no/such' });
    expect(await told).toMatchObject({ status: 404, error: { code: 'model_not_found' } });
    const completed = new Promise((resolve) => ws.on('response.completed', resolve));
    ws.send({ type: 'response.create', ...hello });
    expect(await completed).toMatchObject({ response: { status: 'completed' } });
    ws.close();
    expect(await world.charged()).toBe(METERED_RAW);
  });
});

describe('a connection of the WebSocket mode', () => {
  it('a WebSocket connection continues its own unstored response, and another connection cannot', async () => {
    const client = await connect();
    const other = await connect();
    client.create();
    const { response: first } = await client.completed();
    expect(first.store).toBe(false);
    for (const one of [other, client]) {
      one.create({ previous_response_id: first.id, input: 'And then?' });
    }
    expect(await other.refused()).toMatchObject({
      status: 400,
      error: { code: 'previous_response_not_found', param: 'previous_response_id' },
    });
    await client.completed();
    expect(world.chat.seen.at(-1)?.messages).toMatchObject([
      { role: 'user', content: PROMPT },
      { role: 'assistant', content: WORDS.join('') },
      { role: 'user', content: 'And then?' },
    ]);
    expect(world.chat.seen).toHaveLength(2);
    // The response before the last one is no longer remembered.
    client.create({ previous_response_id: first.id });
    expect(await client.refused()).toMatchObject({
      error: { code: 'previous_response_not_found' },
    });
    const [row] = await database.sql<{ n: number }[]>`
      select count(*)::integer as n from model_responses where agent_id = ${world.agentId}`;
    expect(row?.n).toBe(0);
  });

  it('a WebSocket response that continues an unstored one is stored with the whole conversation', async () => {
    const client = await connect();
    client.create();
    const { response: first } = await client.completed();
    client.create({ previous_response_id: first.id, input: 'And then?', store: true });
    const { response: second } = await client.completed();
    expect(second.store).toBe(true);
    const answer = await world.send('POST', '/responses', {
      ...hello,
      stream: true,
      input: 'And now?',
      previous_response_id: second.id,
    });
    expect(answer.status).toBe(200);
    await answer.text();
    const said = world.chat.seen.at(-1)?.messages as { content: unknown }[];
    expect(said).toHaveLength(5);
    const items = await world.send('GET', `/responses/${second.id}/input_items?order=asc`);
    expect(((await items.json()) as { data: unknown[] }).data).toHaveLength(3);
  });

  it('a WebSocket connection answers one request at a time in order, and refuses requests beyond its queue', async () => {
    let [open, most] = [0, 0];
    world.chat.play(() => {
      most = Math.max(most, ++open);
      return { pieces: [...wordEvents(WORDS), usageEvent(), DONE], everyMs: 5 };
    });
    const { waiting } = RESPONSES_LIMITS.connection;
    const client = await connect();
    const asked = Array.from({ length: waiting + 3 }, (_, at) => `request ${at}`);
    for (const user of asked) client.create({ user });
    expect(await client.refused()).toMatchObject({
      status: 409,
      error: { code: 'too_many_waiting' },
    });
    for (let at = 0; at <= waiting; at++) {
      await client.completed();
      open--;
    }
    expect(most).toBe(1);
    expect(world.chat.seen.map(({ user }) => user)).toEqual(asked.slice(0, waiting + 1));
    expect(client.of('error')).toHaveLength(2);
    expect(await world.charged()).toBe(BigInt(waiting + 1) * METERED_RAW);
  });

  it.each([
    ['no JSON', 'of no use', '', 'no JSON'],
    ['another type', { type: 'response.cancel' }, 'type', 'response.create'],
    ['a warm-up', { generate: false }, 'generate', 'must not be false'],
    ['a second stream', { stream_id: 'a' }, 'stream_id', 'one request at a time'],
    ['the background', { background: true }, 'background', 'in the background'],
    ['a wrong shape', { max_output_tokens: 'all' }, 'max_output_tokens', 'expected'],
    ['what is nested too deeply', `${'['.repeat(5_000)}`, '', ''],
  ])('a WebSocket connection refuses %s, and buys nothing', async (_, message, param, words) => {
    const client = await connect();
    if (typeof message === 'string') client.ws.send(message);
    else client.create(message);
    const { error, status } = await client.refused();
    expect([status, error.param ?? '']).toEqual([400, param]);
    if (typeof message !== 'string') expect(error.message).toContain(words);
    expect(world.chat.seen).toEqual([]);
    client.create();
    await client.completed();
  });

  it('a WebSocket connection relays the upstream’s refusal', async () => {
    world.chat.play({
      status: 400,
      headers: { 'content-type': 'application/json' },
      pieces: ['{"error":{"message":"no","type":"invalid_request_error","code":"bad"}}'],
    });
    const client = await connect();
    client.create();
    expect(await client.refused()).toMatchObject({ status: 400, error: { code: 'bad' } });
    expect(await world.charged()).toBe(0n);
  });

  it('a WebSocket client that leaves is charged for what arrived, and stops the upstream call', async () => {
    world.chat.play({ pieces: [deltaEvent({ content: 'x'.repeat(400) })], ends: 'hang' });
    const client = await connect();
    client.create({ store: true });
    await client.until(({ type }) => type === 'response.output_text.delta');
    client.ws.terminate();
    const charged = await world.charged();
    expect(charged).toBeGreaterThan(0n);
    expect(charged).toBeLessThan(METERED_RAW);
    await expect.poll(() => world.chat.abandoned.count).toBe(1);
  });

  it('a stopping server finishes the WebSocket’s running response, refuses waiting ones, and closes with 1012', async () => {
    world.chat.play({
      pieces: [
        ...WORDS.map((content) => deltaEvent({ content })),
        finishEvent('stop'),
        usageEvent(),
        DONE,
      ],
      everyMs: 50,
    });
    const client = await connect();
    client.create();
    client.create();
    await client.until(({ type }) => type === 'response.output_text.delta');
    const stopped = world.gateway.drain(10_000);
    await client.completed();
    expect(await client.refused()).toMatchObject({
      status: 503,
      error: { code: 'server_draining' },
    });
    expect((await client.closed).code).toBe(1012);
    await stopped;
    expect(world.chat.seen).toHaveLength(1);
    expect(await world.charged()).toBe(METERED_RAW);
  });
});

describe('the rate limit of a connection', () => {
  it('a WebSocket message counts against the rate limit before its previous response is read', async () => {
    await using limited = await responsesWorld({
      sql: database.sql,
      rateLimits: { gatewayPerMinute: 3 },
    });
    const client = await connect(limited);
    const told: unknown[] = [];
    // The upgrade is the first of the three requests.
    for (let message = 0; message < 3; message++) {
      client.create({ model: 'no/such', previous_response_id: 'resp_none' });
      const { error, status } = await client.refused();
      told.push([status, error.code]);
    }
    expect(told).toEqual([
      [400, 'previous_response_not_found'],
      [400, 'previous_response_not_found'],
      [429, 'rate_limited'],
    ]);
  });

  it.each([
    // The upgrade is the first request under the limit of own keys.
    ['of own keys', 'acme', { byokPerMinute: 3, gatewayPerMinute: 1_000 }],
    ['of the pool, where no own key serves', 'open', { byokPerMinute: 1_000, gatewayPerMinute: 2 }],
  ])(
    'a WebSocket connection has the rate limit %s for an account with own keys, as POST has',
    async (_, provider, rateLimits) => {
      const storedKeys = { [provider]: 'sk-own' };
      await using limited = await responsesWorld({ sql: database.sql, rateLimits, storedKeys });
      limited.chat.play({ pieces: [...wordEvents(WORDS), usageEvent(), DONE] });
      const client = await connect(limited);
      for (let message = 0; message < 2; message++) {
        client.create();
        await client.completed();
      }
      client.create();
      expect(await client.refused()).toMatchObject({
        status: 429,
        error: { code: 'rate_limited' },
      });
      expect(limited.chat.seen).toHaveLength(2);
    },
  );
});

it('purchases over a WebSocket connection are traced as spans of its handshake', async () => {
  const root = new RecordedSpan('GET /v1/responses');
  await using traced = await responsesWorld({ sql: database.sql, tracer: { start: () => root } });
  traced.chat.play({ pieces: [...wordEvents(WORDS), usageEvent(), DONE] });
  const client = await connect(traced);
  client.create();
  await client.completed();
  expect(root.children).not.toEqual([]);
});
