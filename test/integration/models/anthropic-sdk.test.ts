import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { messageOf } from '../../support/anthropic-upstream.ts';
import { AGENT, anthropicWorld, MODEL, messages } from '../../support/anthropic-world.ts';
import { AGENT_KEY } from '../../support/gateway-world.ts';
import { begun, messageEvent, STREAM, streamed } from '../../support/message-events.ts';

const asked = { model: MODEL, max_tokens: 1_000, messages };
const WEATHER = {
  name: 'weather',
  description: 'The weather of a city',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};

describe('Anthropic’s SDK, of a model whose upstream speaks its dialect', () => {
  it('Anthropic’s SDK gets the upstream’s answer unchanged except for the model name, and pays what the ledger has', async () => {
    await using w = await anthropicWorld();
    const { data, response } = await w.claude.messages.create(asked).withResponse();
    expect(data).toEqual({
      ...messageOf([{ type: 'text', text: 'Good morning.' }], { model: MODEL }),
    });
    // (1,200 × 1 + 400 × 5) × 1.05
    expect(response.headers.get('x-svc-cost-usdc')).toBe('3360');
    expect(response.headers.get('x-svc-model')).toBe(MODEL);
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'));
    expect(w.ledger.consumedRaw(AGENT)).toBe(3_360n);
    await w.balanced();
  });

  it('Anthropic’s SDK has its system, cache marks, thinking, tools, images and beta features relayed unchanged', async () => {
    await using w = await anthropicWorld();
    const cache_control = { type: 'ephemeral' as const, ttl: '1h' as const };
    const data = 'aGVsbG8=';
    const request = {
      max_tokens: 3_000,
      stop_sequences: ['END'],
      system: [{ type: 'text' as const, text: 'Be brief.', cache_control }],
      thinking: { type: 'enabled' as const, budget_tokens: 1_024 },
      metadata: { user_id: 'someone' },
      tools: [
        { ...WEATHER, cache_control },
        { type: 'bash_20250124' as const, name: 'bash' as const },
      ],
      tool_choice: { type: 'auto' as const, disable_parallel_tool_use: true },
      messages: [
        { role: 'user' as const, content: 'Oslo?' },
        {
          role: 'assistant' as const,
          content: [
            { type: 'thinking' as const, thinking: 'Let me see', signature: 'c2lnbmVk' },
            { type: 'redacted_thinking' as const, data: 'hidden' },
            { type: 'tool_use' as const, id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
          ],
        },
        {
          role: 'user' as const,
          content: [
            {
              type: 'tool_result' as const,
              tool_use_id: 'toolu_1',
              is_error: true,
              content: [{ type: 'text' as const, text: 'no such city' }],
            },
            {
              type: 'image' as const,
              source: { type: 'base64' as const, media_type: 'image/png' as const, data },
            },
            { type: 'text' as const, text: 'And this?', cache_control },
          ],
        },
      ],
    };
    await w.claude.beta.messages.create({
      ...request,
      model: MODEL,
      betas: ['interleaved-thinking-2025-05-14', 'context-1m-x'],
    });
    expect(w.upstream.seen).toEqual([
      expect.objectContaining({
        path: '/v1/messages',
        body: { ...request, model: 'claude-model' },
        headers: expect.objectContaining({
          'anthropic-version': '2026-10-21',
          'anthropic-beta': 'interleaved-thinking-2025-05-14,context-1m-x',
          'x-api-key': 'sk-ant-upstream',
        }),
      }),
    ]);
    expect(JSON.stringify(w.upstream.seen)).not.toContain(AGENT_KEY);
    await w.balanced();
  });

  it('Anthropic’s SDK streams every event in order with all content, and the price before the end', async () => {
    await using w = await anthropicWorld();
    w.upstream.replies.push(streamed(STREAM), streamed(STREAM));
    const stream = w.claude.messages.stream(asked);
    const kinds: string[] = [];
    stream.on('streamEvent', ({ type }) => kinds.push(type));
    expect(await stream.finalText()).toBe('Good morning.');
    expect(kinds).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    const message = await stream.finalMessage();
    expect(message).toMatchObject({ model: MODEL, stop_reason: 'end_turn' });
    expect(message.usage).toMatchObject({ input_tokens: 1_200, output_tokens: 400 });
    const text = await (
      await w.gateway.request('/messages', { body: { ...asked, stream: true } })
    ).text();
    expect(text).toBe(
      STREAM.join('')
        .replace('"claude-upstream"', `"${MODEL}"`)
        .replace('event: message_stop', ': svc-cost-usdc=3360\n\nevent: message_stop'),
    );
    await w.balanced();
    expect(w.ledger.consumedRaw(AGENT)).toBe(6_720n);
  });

  it('Anthropic’s SDK streams thinking and the arguments of a tool call', async () => {
    await using w = await anthropicWorld();
    const block = (index: number, content_block: object, deltas: readonly object[]) => [
      messageEvent('content_block_start', { index, content_block }),
      ...deltas.map((delta) => messageEvent('content_block_delta', { index, delta })),
      messageEvent('content_block_stop', { index }),
    ];
    w.upstream.replies.push(
      streamed([
        messageEvent('message_start', {
          message: { ...begun, usage: { input_tokens: 9, output_tokens: 1 } },
        }),
        ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
          { type: 'thinking_delta', thinking: 'Hm.' },
          { type: 'signature_delta', signature: 'c2ln' },
        ]),
        ...block(1, { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }, [
          { type: 'input_json_delta', partial_json: '{"city":' },
          { type: 'input_json_delta', partial_json: '"Oslo"}' },
        ]),
        messageEvent('message_delta', {
          delta: { stop_reason: 'tool_use', stop_sequence: null },
          usage: { output_tokens: 30 },
        }),
        messageEvent('message_stop'),
      ]),
    );
    const message = await w.claude.messages.stream({ ...asked, tools: [WEATHER] }).finalMessage();
    expect(message.content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
    ]);
    await w.balanced();
  });

  it('Anthropic’s SDK pays cache writes and cache reads at the catalogue’s rates', async () => {
    await using w = await anthropicWorld();
    const usage = {
      input_tokens: 100,
      cache_read_input_tokens: 1_000,
      output_tokens: 10,
      cache_creation_input_tokens: 400,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 400 },
    };
    w.upstream.replies.push({ body: messageOf([{ type: 'text', text: 'Good.' }], { usage }) });
    const text = 'Long instructions. '.repeat(100);
    const system = [{ type: 'text' as const, text, cache_control: { type: 'ephemeral' as const } }];
    const { response } = await w.claude.messages.create({ ...asked, system }).withResponse();
    // (100 × 1 + 1,000 × 0.1 + 400 × 2 + 10 × 5) × 1.05, rounded up
    expect(response.headers.get('x-svc-cost-usdc')).toBe('1103');
    await w.balanced();
  });

  it('Anthropic’s SDK counts tokens at the upstream, for nothing', async () => {
    await using w = await anthropicWorld();
    const { data, response } = await w.claude.messages
      .countTokens({ model: MODEL, messages, tools: [WEATHER] })
      .withResponse();
    expect(data).toEqual({ input_tokens: 14 });
    expect(response.headers.get('x-svc-token-count')).toBe('provider');
    expect(w.upstream.seen).toEqual([
      expect.objectContaining({
        path: '/v1/messages/count_tokens',
        body: { model: 'claude-model', messages, tools: [WEATHER] },
      }),
    ]);
    expect(w.ledger.charges).toEqual([]);
    await w.balanced();
  });

  it('Anthropic’s SDK gets an estimated token count, marked as such, when the upstream cannot count', async () => {
    await using w = await anthropicWorld();
    w.upstream.replies.push(
      { status: 500, body: {} },
      { body: 'no count' },
      { status: 404, body: {} },
    );
    for (let i = 0; i < 3; i++) {
      const { data, response } = await w.claude.messages
        .countTokens({ model: MODEL, messages })
        .withResponse();
      // Two words, and eight around them.
      expect(data).toEqual({ input_tokens: 10 });
      expect(response.headers.get('x-svc-token-count')).toBe('estimate');
    }
    await w.balanced();
  });

  it('Anthropic’s SDK gets the upstream’s refusal of a prompt whose tokens it counts', async () => {
    await using w = await anthropicWorld();
    const error = await w.claude.messages
      .countTokens({ model: MODEL, messages: [{ role: 'assistant', content: 'x' }] })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.BadRequestError);
    expect(error).toMatchObject({
      error: { error: { message: expect.stringContaining('user role') } },
    });
  });

  it('the Messages route accepts an agent key in x-api-key beside an older anthropic-version', async () => {
    await using w = await anthropicWorld();
    const older = { temperature: 0.2, top_p: 0.9, top_k: 5 };
    const response = await fetch(`${w.gateway.baseUrl}/messages?beta=true`, {
      method: 'POST',
      body: JSON.stringify({ ...asked, ...older }),
      headers: {
        'x-api-key': AGENT_KEY,
        authorization: 'Bearer another',
        'anthropic-version': '2023-06-01',
        'content-type': 'application/json',
      },
    });
    expect(response.status).toBe(200);
    expect(w.upstream.seen[0]).toMatchObject({
      headers: { 'anthropic-version': '2023-06-01' },
      body: older,
    });
  });

  it('Anthropic’s SDK may send the agent key as a bearer token', async () => {
    await using w = await anthropicWorld();
    const bearer = new Anthropic({
      apiKey: null,
      authToken: AGENT_KEY,
      maxRetries: 0,
      baseURL: w.gateway.baseUrl.replace(/\/v1$/, ''),
    });
    expect(await bearer.messages.create(asked)).toMatchObject({ type: 'message' });
  });

  it('Anthropic’s SDK with its own provider key pays the provider itself, and no field is refused or changed', async () => {
    await using w = await anthropicWorld({}, 'sk-ant-of-the-server');
    const { response } = await w.claude.messages
      .create(
        { ...asked, max_tokens: 9_000_000, service_tier: 'standard_only' },
        {
          timeout: 10_000,
          headers: { 'x-svc-provider-key': 'sk-ant-upstream' },
        },
      )
      .withResponse();
    expect(response.headers.get('x-svc-payment')).toBe('byok');
    expect(w.upstream.seen[0]?.body).toMatchObject({ max_tokens: 9_000_000 });
    expect(JSON.stringify(w.upstream.seen)).not.toContain('sk-ant-of-the-server');
    await w.balanced();
  });
});
