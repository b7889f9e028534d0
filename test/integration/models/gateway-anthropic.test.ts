import { describe, expect, it } from 'vitest';
import { BUILTIN_PROVIDERS } from '../../../src/models/catalogue/builtin/providers.ts';
import { MODEL_LIMITS } from '../../../src/models/limits.ts';
import { errorOf, messageOf } from '../../support/anthropic-upstream.ts';
import { AGENT, anthropicWorld, KEY, MODEL, messages } from '../../support/anthropic-world.ts';

describe('a model behind the Messages dialect', () => {
  it('a model behind the Messages dialect is bought with the caller’s own key, and the server’s key is not sent', async () => {
    await using w = await anthropicWorld({}, 'sk-ant-of-the-server');
    const { status, headers } = await w.chat({}, { 'x-svc-provider-key': KEY });
    expect([status, headers.get('x-svc-payment'), headers.get('x-svc-cost-usdc')]).toEqual([
      200,
      'byok',
      '2000',
    ]);
    expect(JSON.stringify(w.upstream.seen)).not.toContain('sk-ant-of-the-server');
    await w.balanced();
  });

  it('a model behind the Messages dialect answers the OpenAI SDK, and the cost header is the ledger’s charge', async () => {
    await using w = await anthropicWorld();
    const { data, response } = await w.gateway.openai.chat.completions
      .create({ model: MODEL, messages, temperature: 1.5 })
      .withResponse();
    expect(data).toMatchObject({
      object: 'chat.completion',
      model: MODEL,
      choices: [{ message: { content: 'Good morning.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1_200, completion_tokens: 400, total_tokens: 1_600 },
    });
    // (1,200 × 1 + 400 × 5) × 1.05
    expect(response.headers.get('x-svc-cost-usdc')).toBe('3360');
    expect(w.ledger.consumedRaw(AGENT)).toBe(3_360n);
    expect(w.upstream.seen).toEqual([
      expect.objectContaining({
        path: '/v1/messages',
        body: {
          model: 'claude-model',
          max_tokens: MODEL_LIMITS.tokens.unknownOutput,
          messages: [{ role: 'user', content: [{ type: 'text', text: 'Good morning?' }] }],
          temperature: 1,
        },
      }),
    ]);
    await w.balanced();
  });

  it('a model behind the Messages dialect calls a tool and gets its result, and both requests are charged by usage', async () => {
    await using w = await anthropicWorld();
    const { completions } = w.gateway.openai.chat;
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }];
    const content = [
      { type: 'text', text: 'Let me see.' },
      { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
      { type: 'tool_use', id: 'toolu_2', name: 'weather', input: { city: 'Rome' } },
    ];
    const usage = {
      input_tokens: 100,
      cache_read_input_tokens: 1_000,
      output_tokens: 50,
      cache_creation_input_tokens: 200,
    };
    w.upstream.replies.push({ body: messageOf(content, { stop_reason: 'tool_use', usage }) });

    const first = await completions.create({ model: MODEL, messages, tools });
    const message = first.choices[0]?.message;
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    const calls = message?.tool_calls?.flatMap((call) => ('function' in call ? [call] : [])) ?? [];
    expect(calls.map((call) => JSON.parse(call.function.arguments))).toEqual([
      { city: 'Oslo' },
      { city: 'Rome' },
    ]);
    expect(first.usage?.prompt_tokens_details?.cached_tokens).toBe(1_000);
    // (300 × 1 + 200 × 0.25 for writing them + 1,000 × 0.1 + 50 × 5) × 1.05
    expect(w.ledger.consumedRaw(AGENT)).toBe(735n);

    const results = calls.map(({ id }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: 'Rain',
    }));
    const said = [...messages, ...(message ? [message] : []), ...results];
    const second = await completions.create({ model: MODEL, messages: said, tools });
    expect(second.choices[0]?.message.content).toBe('Good morning.');
    expect(w.upstream.seen[1]?.body.messages).toEqual([
      expect.objectContaining({ role: 'user' }),
      { role: 'assistant', content },
      {
        role: 'user',
        content: ['toolu_1', 'toolu_2'].map((id) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: [{ type: 'text', text: 'Rain' }],
        })),
      },
    ]);
    expect(w.ledger.consumedRaw(AGENT)).toBe(735n + 3_360n);
    await w.balanced();
  });

  it('a built-in Claude model is bought over the Messages dialect at its published price', async () => {
    await using w = await anthropicWorld();
    const { status, headers } = await w.chat({ model: 'anthropic/claude-haiku-4-5' });
    expect([status, headers.get('x-svc-cost-usdc')]).toEqual([200, '3360']);
    const { pathname } = new URL('messages', `${BUILTIN_PROVIDERS.anthropic?.baseUrl}/`);
    expect(w.upstream.seen).toMatchObject([{ path: pathname, headers: { 'x-api-key': KEY } }]);
    await w.balanced();
  });

  it('a Messages answer without usage is charged by an estimate', async () => {
    await using w = await anthropicWorld();
    const content = [{ type: 'text', text: 'x'.repeat(400) }];
    w.upstream.replies.push({ body: messageOf(content, { usage: null }) });
    const { headers } = await w.chat();
    expect(BigInt(headers.get('x-svc-cost-usdc') ?? 0)).toBeGreaterThanOrEqual(525n);
    expect(w.ledger.charges[0]?.usage).toMatchObject({ text_output_token: 100, estimated: 1 });
    await w.balanced();
  });
});

describe('what such a model cannot do', () => {
  it('a chat field that the Messages dialect lacks is refused by its name, uncharged and unsent', async () => {
    await using w = await anthropicWorld();
    const cases = [
      ['n', { n: 2 }, /^n /],
      ['logprobs', { logprobs: true }, /^logprobs /],
      ['presence_penalty', { presence_penalty: 1 }, /^presence_penalty /],
      ['response_format', { response_format: { type: 'grammar' } }, /^response_format /],
      [
        'response_format.json_schema.schema',
        { response_format: { type: 'json_schema' } },
        /^response_format\.json_schema\.schema must/,
      ],
    ] as const;
    for (const [param, more, message] of cases) {
      const { status, json } = await w.chat(more);
      expect(status).toBe(400);
      expect(json).toMatchObject({
        error: { code: 'invalid_request', param, message: expect.stringMatching(message) },
      });
    }
    expect(w.upstream.seen).toEqual([]);
    expect(w.ledger.consumedRaw(AGENT)).toBe(0n);
    await w.balanced();
  });

  it('a request that the Messages dialect cannot express goes to the next source, at that source’s price', async () => {
    await using w = await anthropicWorld();
    const { status, headers, json } = await w.chat({ model: 'acme/spared', n: 2 });
    expect([status, json]).toMatchObject([200, { model: 'acme/spared' }]);
    expect(w.upstream.seen).toEqual([]);
    expect(w.spare.seen).toMatchObject([{ body: { n: 2 } }]);
    // No source was tried and passed over. (1,200 × 5 + 400 × 20) × 1.05
    expect(headers.get('x-svc-attempts')).toBeNull();
    expect(headers.get('x-svc-cost-usdc')).toBe('14700');
    expect(w.ledger.charges).toMatchObject([{ targetUrl: 'gateway://spare/spare-model' }]);
    await w.balanced();
  });

  it('an inexpressible request is refused when no other source is left, or gets the next source’s response', async () => {
    await using w = await anthropicWorld();
    const { status, json } = await w.chat({ n: 2 });
    expect([status, json]).toMatchObject([
      400,
      { error: { code: 'invalid_request', message: expect.stringMatching(/^n cannot/) } },
    ]);
    w.spare.faults.push({ kind: 'status', status: 500 });
    const failed = await w.chat({ model: 'acme/spared', n: 2 });
    expect([failed.status, failed.json]).toMatchObject([
      502,
      { error: { code: 'all_sources_failed' } },
    ]);
    w.spare.faults.push({ kind: 'status', status: 422, body: { error: { message: 'no' } } });
    const declined = await w.chat({ model: 'acme/spared', n: 2 });
    expect([declined.status, declined.json]).toEqual([422, { error: { message: 'no' } }]);
    expect(w.ledger.consumedRaw(AGENT)).toBe(0n);
    await w.balanced();
  });

  it('a request that the Messages dialect cannot express opens no circuit breaker of its source', async () => {
    await using w = await anthropicWorld();
    for (let i = 0; i < 5; i++) expect((await w.chat({ n: 2 })).status).toBe(400);
    expect(w.upstream.seen).toEqual([]);
    expect((await w.chat()).status).toBe(200);
    await w.balanced();
  });
});

describe('arguments of an earlier call', () => {
  it('tool arguments of an earlier call that are nested too deeply to parse are sent as text', async () => {
    await using w = await anthropicWorld();
    const args = `{"x":${'['.repeat(9_000)}${']'.repeat(9_000)}}`;
    const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: args } }];
    const result = { role: 'tool', tool_call_id: 'a', content: 'x' };
    const deep = [...messages, { role: 'assistant', tool_calls: calls }, result];
    expect((await w.chat({ messages: deep })).status).toBe(200);
    expect(w.upstream.seen[0]?.body).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', content: [{ type: 'tool_use', input: { INVALID_JSON: args } }] },
        { role: 'user' },
      ],
    });
    await w.balanced();
  });
});

describe('the upstream’s own refusal', () => {
  it('an upstream’s Messages refusal reaches the caller as an OpenAI error of the same status, uncharged', async () => {
    await using w = await anthropicWorld();
    const body = errorOf('invalid_request_error', 'max_tokens: 9999999 > 64000');
    w.upstream.replies.push({ status: 400, body });
    const { status, headers, json } = await w.chat({ model: 'acme/spared' });
    expect(status).toBe(400);
    expect(json).toEqual({
      error: {
        type: 'invalid_request_error',
        message: 'max_tokens: 9999999 > 64000',
        param: null,
        code: null,
      },
    });
    expect(headers.get('x-svc-payment')).toBe('passthrough');
    expect(w.spare.seen).toEqual([]);
    expect(w.ledger.consumedRaw(AGENT)).toBe(0n);
    await w.balanced();
  });
});

describe('an upstream that fails', () => {
  const failures = [
    ['is overloaded', { status: 529, body: errorOf('overloaded_error', 'Overloaded') }],
    ['fails inside', { status: 500, body: errorOf('api_error', 'Internal server error') }],
    ['limits its callers', { status: 429, headers: { 'retry-after': '3' }, body: {} }],
    ['answers what is no message', { body: { type: 'ping' } }],
    ['answers half a message', { body: '{"type":"message","content":[' }],
    ['answers too much', { body: 'x'.repeat(5_000) }],
    ['redirects', { status: 307, headers: { location: 'http://127.0.0.1:9/' }, body: {} }],
    ['says nothing', { isSilent: true }],
  ] as const;

  for (const [name, reply] of failures) {
    it(`an upstream of the Messages dialect that ${name} is passed over and not paid`, async () => {
      await using w = await anthropicWorld({ responseBytes: 4_096, totalMs: 500 });
      w.upstream.replies.push(reply);
      const { headers, json } = await w.chat({ model: 'acme/spared' });
      expect(json).toMatchObject({ choices: [{ message: { content: 'Good morning.' } }] });
      expect(headers.get('x-svc-attempts')).toBe('2');
      expect(w.spare.seen).toHaveLength(1);
      expect(w.ledger.charges).toHaveLength(1);
      await w.balanced();
    });
  }

  it('an upstream at its limit of concurrent requests is passed over for the next source', async () => {
    await using w = await anthropicWorld({ inFlight: 1 });
    w.upstream.replies.push({ isSilent: true });
    const waiting = new AbortController();
    const call = w.gateway.openai.chat.completions.create(
      { model: MODEL, messages },
      { signal: waiting.signal },
    );
    const left = expect(call).rejects.toThrow();
    await expect.poll(() => w.upstream.seen.length).toBe(1);
    const { headers } = await w.chat({ model: 'acme/spared' });
    expect(headers.get('x-svc-attempts')).toBe('2');
    expect(w.upstream.seen).toHaveLength(1);
    waiting.abort();
    await left;
    await w.balanced();
    expect((await w.chat()).status).toBe(200);
  });
});
