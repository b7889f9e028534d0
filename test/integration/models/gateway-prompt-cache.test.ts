import { describe, expect, it } from 'vitest';
import { messageOf } from '../../support/anthropic-upstream.ts';
import { AGENT, AUTO_KEY, anthropicWorld, KEY, MODEL } from '../../support/anthropic-world.ts';
import { AGENT_KEY } from '../../support/gateway-world.ts';
import { begun, delta, messageEvent, STREAM, streamed } from '../../support/message-events.ts';
import { RealtimeClient } from '../../support/realtime-client.ts';

describe('a prompt of which a part is marked for a cache', () => {
  it('a prompt with the caller’s cache mark is cached by the upstream, and its cache write costs the upstream’s rate', async () => {
    await using w = await anthropicWorld();
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    const marked = (text: string) => [{ type: 'text', text, cache_control }];
    const called = { name: 'now', parameters: { type: 'object' } };
    const usage = {
      input_tokens: 100,
      cache_read_input_tokens: 0,
      output_tokens: 10,
      cache_creation_input_tokens: 400,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 400 },
    };
    const content = [{ type: 'text', text: 'Good.' }];
    const whole = { body: messageOf(content, { usage }) };
    const events = [
      messageEvent('message_start', { message: { ...begun, usage } }),
      delta('Good.'),
      STREAM.at(-2) ?? '',
      STREAM.at(-1) ?? '',
    ];
    w.upstream.replies.push(whole, streamed(events));
    const request = {
      messages: [
        { role: 'system', content: marked('Be brief.') },
        { role: 'user', content: marked('Good morning?') },
      ],
      tools: [{ type: 'function', function: called, cache_control }],
    };
    const { headers, json } = await w.chat(request);
    expect(w.upstream.seen[0]?.body).toMatchObject({
      system: marked('Be brief.'),
      messages: [{ role: 'user', content: marked('Good morning?') }],
      tools: [{ name: 'now', input_schema: { type: 'object' }, cache_control }],
    });
    expect(json).toMatchObject({
      usage: { prompt_tokens: 500, prompt_tokens_details: { cache_write_tokens: 400 } },
    });
    // (100 × 1 + 400 × 2 + 10 × 5) × 1.05, rounded up
    expect(headers.get('x-svc-cost-usdc')).toBe('998');
    const body = { model: MODEL, ...request, stream: true };
    await (await w.gateway.request('/chat/completions', { body })).text();
    await w.balanced();
    // The same prompt, and 400 tokens of output.
    expect(w.ledger.consumedRaw(AGENT)).toBe(998n + 3_045n);
  });
});

const MARK = { cache_control: { type: 'ephemeral' } };
const LONG = 'Be brief. '.repeat(500);
const authorization = `Bearer ${AUTO_KEY}`;

/** One conversation in the words of each dialect, and what the upstream is sent for it. */
const asked = {
  '/chat/completions': {
    messages: [
      { role: 'system', content: LONG },
      { role: 'user', content: 'Good morning?' },
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'Good night?' },
    ],
    tools: [{ type: 'function', function: { name: 'now', parameters: { type: 'object' } } }],
    max_tokens: 16,
  },
  '/messages': {
    system: LONG,
    messages: [
      { role: 'user', content: 'Good morning?' },
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'Good night?' },
    ],
    tools: [{ name: 'now', input_schema: { type: 'object' } }],
    max_tokens: 16,
  },
  '/responses': {
    instructions: LONG,
    input: [
      { role: 'user', content: 'Good morning?' },
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'Good night?' },
    ],
    tools: [{ type: 'function', name: 'now', parameters: { type: 'object' } }],
    max_output_tokens: 16,
  },
} as const;
const PATHS = Object.keys(asked) as (keyof typeof asked)[];

describe.each(PATHS)('a prompt to %s of a key whose prompts are cached', (path) => {
  const marked = (text: string) => [{ type: 'text', text, ...MARK }];
  const WRITTEN = {
    input_tokens: 100,
    cache_read_input_tokens: 0,
    output_tokens: 10,
    cache_creation_input_tokens: 1_200,
    cache_creation: { ephemeral_5m_input_tokens: 1_200, ephemeral_1h_input_tokens: 0 },
  };
  const READ = {
    input_tokens: 100,
    cache_read_input_tokens: 1_200,
    output_tokens: 10,
    cache_creation_input_tokens: 0,
  };
  const answering = (usage: object) => ({
    body: messageOf([{ type: 'text', text: 'Good.' }], { usage }),
  });
  const ask = (w: Awaited<ReturnType<typeof anthropicWorld>>, more: object = {}, headers = {}) =>
    w.gateway.request(path, {
      headers: { authorization, ...headers },
      body: { model: MODEL, ...asked[path], ...more },
    });

  it('a repeated prompt of an agent key with prompt caching is marked, and its receipt shows the cache’s cost and saving', async () => {
    await using w = await anthropicWorld();
    w.upstream.replies.push(answering(WRITTEN), answering(READ));
    const written = await ask(w);
    expect(written.status).toBe(200);
    expect(w.upstream.seen[0]?.body).toMatchObject({
      system: marked(LONG),
      messages: [
        { role: 'user', content: marked('Good morning?') },
        { role: 'assistant' },
        { role: 'user', content: marked('Good night?') },
      ],
    });
    const told = (response: Response, name: string) => response.headers.get(`x-svc-${name}`);
    // (100 × 1 + 1,200 × 1.25 + 10 × 5) × 1.05, and the same without the quarter
    expect([told(written, 'cost-usdc'), told(written, 'cache-discount-usdc')]).toEqual([
      '1733',
      '-315',
    ]);
    const read = await ask(w);
    // (100 × 1 + 1,200 × 0.1 + 10 × 5) × 1.05, and with all at 1
    expect([told(read, 'cost-usdc'), told(read, 'cache-discount-usdc')]).toEqual(['284', '1134']);
    expect(w.ledger.charges.map(({ usage }) => usage.cache_discount_raw)).toEqual([-315, 1_134]);
    await w.balanced();
    expect(w.ledger.consumedRaw(AGENT)).toBe(1_733n + 284n);
  });

  it('the saving of a cached prompt is reported at the end of a stream and in its usage', async () => {
    await using w = await anthropicWorld();
    const events = [
      messageEvent('message_start', { message: { ...begun, usage: READ } }),
      delta('Good.'),
      STREAM.at(-2) ?? '',
      STREAM.at(-1) ?? '',
    ];
    w.upstream.replies.push(streamed(events));
    const text = await (await ask(w, { stream: true, usage: { include: true } })).text();
    expect(w.upstream.seen[0]?.body).toMatchObject({ system: marked(LONG), stream: true });
    const [, costRaw] = /^: svc-cost-usdc=(\d+)$/m.exec(text) ?? [];
    expect(text).toContain(`: svc-cost-usdc=${costRaw}\n\n: svc-cache-discount-usdc=1134\n\n`);
    expect(text).toContain(`"cost_raw":"${costRaw}","cache_discount_raw":"1134"`);
    expect(w.ledger.charges[0]?.usage.cache_discount_raw).toBe(1_134);
    await w.balanced();
    expect(w.ledger.consumedRaw(AGENT)).toBe(BigInt(costRaw ?? -1));
  });

  it('the hold for a prompt of an agent key with prompt caching covers writing all of it to the cache', async () => {
    await using w = await anthropicWorld();
    const heldBy = async (authorized: string) => {
      const holds: bigint[] = [];
      const { hold } = w.ledger;
      w.ledger.hold = (request) => {
        holds.push(request.amountRaw);
        return hold(request);
      };
      w.upstream.replies.push(answering(READ));
      await ask(w, {}, { authorization: authorized });
      w.ledger.hold = hold;
      return holds[0] ?? 0n;
    };
    const plain = await heldBy(`Bearer ${AGENT_KEY}`);
    const cached = await heldBy(authorization);
    // The answer's part of both is 16 × 5 × 1.05.
    expect(Number(cached - 84n) / Number(plain - 84n)).toBeCloseTo(1.25, 2);
  });

  it('a prompt is not marked for an agent key without prompt caching, or when it is shorter than caches accept', async () => {
    await using w = await anthropicWorld();
    const usage = { input_tokens: 9, output_tokens: 4 };
    w.upstream.replies.push(answering(usage), answering(usage));
    await ask(w, {}, { authorization: `Bearer ${AGENT_KEY}` });
    const [, ...turns] = asked['/chat/completions'].messages;
    const short = {
      '/chat/completions': { messages: turns },
      '/messages': { system: 'Be brief.' },
      '/responses': { instructions: 'Be brief.' },
    };
    await ask(w, short[path]);
    expect(w.upstream.seen).toHaveLength(2);
    expect(JSON.stringify(w.upstream.seen.map(({ body }) => body))).not.toContain('cache_control');
    await w.balanced();
  });
});

it('a prompt over the WebSocket of /v1/responses is marked for a key whose prompts are cached', async () => {
  await using w = await anthropicWorld();
  w.upstream.replies.push(streamed(STREAM));
  const url = `${w.gateway.baseUrl.replace(/^http/, 'ws')}/responses`;
  const client = new RealtimeClient(url, [], { authorization });
  await client.opened();
  client.say({ type: 'response.create', model: MODEL, ...asked['/responses'] });
  await client.until(({ type }) => type === 'response.completed');
  expect(w.upstream.seen[0]?.body).toMatchObject({
    system: [{ type: 'text', text: LONG, ...MARK }],
  });
  client.ws.terminate();
  await w.balanced();
});

it('a prompt with the caller’s own cache marks gets no others', async () => {
  await using w = await anthropicWorld();
  const body = {
    model: MODEL,
    ...asked['/messages'],
    system: [{ type: 'text', text: LONG, ...MARK }],
  };
  await w.gateway.request('/messages', { headers: { authorization }, body });
  const { messages, system, tools } = w.upstream.seen[0]?.body ?? {};
  expect({ messages, system, tools }).toEqual({
    messages: body.messages,
    system: body.system,
    tools: body.tools,
  });
});

it('a prompt with an own provider key is marked like any other, except on /v1/llm/*', async () => {
  await using w = await anthropicWorld();
  const own = { authorization, 'x-svc-provider-key': KEY };
  await w.chat({ model: 'anthropic/claude-haiku-4-5', ...asked['/chat/completions'] }, own);
  expect(JSON.stringify(w.upstream.seen.pop()?.body)).not.toContain('cache_control');
  const long = { role: 'system', content: LONG.repeat(4) };
  const [, ...turns] = asked['/chat/completions'].messages;
  const messages = [long, ...turns];
  await w.chat(
    { model: 'anthropic/claude-haiku-4-5', ...asked['/chat/completions'], messages },
    own,
  );
  expect(JSON.stringify(w.upstream.seen.pop()?.body)).toContain('cache_control');
  await w.gateway.request('/llm/chat/completions', {
    headers: own,
    body: { model: 'anthropic/claude-haiku-4-5', ...asked['/chat/completions'], messages },
  });
  expect(w.upstream.seen).toHaveLength(1);
  expect(JSON.stringify(w.upstream.seen[0]?.body)).not.toContain('cache_control');
});
