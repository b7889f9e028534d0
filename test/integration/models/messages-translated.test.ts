import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import {
  AGENT,
  asked,
  messages,
  WEATHER,
  messagesWorld as world,
} from '../../support/messages-world.ts';
import {
  callEvent,
  DONE,
  deltaEvent,
  finishEvent,
  textEvent,
  toolCallEvents,
  usageEvent,
  wholeAnswer,
  wordEvents,
} from '../../support/stream-upstream.ts';

const CALL = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Oslo"}' },
};

describe('Anthropic’s SDK, of a model whose upstream speaks the OpenAI dialect', () => {
  it('Anthropic’s SDK over a chat upstream has its request and the answer translated', async () => {
    await using w = await world();
    w.upstream.play(wholeAnswer({ content: 'Good morning.' }));
    const { data, response } = await w.claude.messages
      .create({
        ...asked,
        system: [
          { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
          { type: 'text', text: 'Be kind.' },
        ],
        stop_sequences: ['END'],
        metadata: { user_id: 'someone' },
        thinking: { type: 'adaptive' },
      })
      .withResponse();
    expect(data).toMatchObject({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: asked.model,
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: 'Good morning.' }],
      usage: { input_tokens: 1_200, output_tokens: 400, cache_read_input_tokens: 0 },
    });
    expect(w.upstream.seen).toEqual([
      {
        model: 'x',
        max_tokens: 1_000,
        stop: ['END'],
        messages: [
          { role: 'system', content: 'Be brief.\n\nBe kind.' },
          { role: 'user', content: 'Good morning?' },
        ],
      },
    ]);
    // (1,200 × 2.5 + 400 × 10) × 1.05
    expect(response.headers.get('x-svc-cost-usdc')).toBe('7350');
    await w.balanced();
  });

  it('Anthropic’s SDK over a chat upstream calls tools and sends their results, with an image after them', async () => {
    await using w = await world();
    w.upstream.play(wholeAnswer({ content: null, tool_calls: [CALL] }));
    const called = await w.claude.messages.create({ ...asked, tools: [WEATHER] });
    expect(called).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Oslo' } }],
    });
    w.upstream.play(wholeAnswer({ content: 'Rain.' }));
    const picture = { type: 'base64' as const, media_type: 'image/png' as const, data: 'aGk=' };
    await w.claude.messages.create({
      ...asked,
      tools: [WEATHER],
      tool_choice: { type: 'any' as const },
      messages: [
        ...messages,
        { role: 'assistant', content: called.content },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result' as const,
              tool_use_id: 'call_1',
              content: [
                { type: 'text', text: 'It rains.' },
                { type: 'image', source: picture },
              ],
            },
            { type: 'text', text: 'So?' },
          ],
        },
      ],
    });
    const { description, input_schema: parameters, name } = WEATHER;
    expect(w.upstream.seen[1]).toMatchObject({
      tools: [{ type: 'function', function: { name, description, parameters } }],
      tool_choice: 'required',
      messages: [
        messages[0],
        { role: 'assistant', content: null, tool_calls: [CALL] },
        { role: 'tool', tool_call_id: 'call_1', content: 'It rains.' },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
            { type: 'text', text: 'So?' },
          ],
        },
      ],
    });
    await w.balanced();
  });

  it('Anthropic’s SDK over a chat upstream streams text, then calls, with usage and price before the end', async () => {
    await using w = await world();
    const [first, ...calls] = toolCallEvents(CALL);
    w.upstream.play({
      pieces: [
        first ?? '',
        textEvent('Let me '),
        ': alive\n\n',
        textEvent('see.'),
        ...calls.slice(0, -1),
        callEvent(1, { name: 'weather', arguments: '{}' }, { id: 'call_2', type: 'function' }),
        finishEvent('tool_calls'),
        usageEvent(),
        DONE,
      ],
    });
    const response = await w.gateway.request('/messages', {
      body: { ...asked, tools: [WEATHER], stream: true },
    });
    const text = await response.text();
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const kinds = [...text.matchAll(/^event: (.*)$/gm)].map(([, kind]) => kind);
    expect(kinds).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'ping',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(text).toContain(': svc-cost-usdc=7350\n\nevent: message_stop');
    const message = await w.claude.messages.stream({ ...asked, tools: [WEATHER] }).finalMessage();
    expect(message).toMatchObject({
      model: asked.model,
      stop_reason: 'tool_use',
      content: [
        { type: 'text', text: 'Let me see.' },
        { type: 'tool_use', id: 'call_1', input: { city: 'Oslo' } },
        { type: 'tool_use', id: 'call_2', input: {} },
      ],
      usage: { input_tokens: 1_200, output_tokens: 400 },
    });
    await w.balanced();
  });

  it('Anthropic’s SDK over a chat upstream gets requested thinking, and does not send it back', async () => {
    await using w = await world();
    const pieces = [
      deltaEvent({ role: 'assistant', reasoning_content: 'Hm.' }),
      textEvent('Good.'),
      finishEvent('stop'),
      usageEvent(),
      DONE,
    ];
    w.upstream.play({ pieces });
    const thinking = { type: 'adaptive' as const };
    const { content } = await w.claude.messages.stream({ ...asked, thinking }).finalMessage();
    expect(content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: '' },
      { type: 'text', text: 'Good.' },
    ]);
    const silent = await w.claude.messages.stream(asked).finalMessage();
    expect(silent.content).toEqual([{ type: 'text', text: 'Good.' }]);
    w.upstream.play(wholeAnswer({ content: 'So.' }));
    await w.claude.messages.create({
      ...asked,
      messages: [...messages, { role: 'assistant', content }, { role: 'user', content: 'And?' }],
    });
    expect(w.upstream.seen[2]).toMatchObject({
      messages: [messages[0], { role: 'assistant', content: 'Good.' }, { content: 'And?' }],
    });
    await w.balanced();
  });

  it('a Messages stream over a chat upstream that breaks off ends with an error, and is charged so far', async () => {
    await using w = await world();
    w.upstream.play({ pieces: wordEvents(['Good ', 'morning.']).slice(0, 3), ends: 'cut' });
    const stream = w.claude.messages.stream(asked);
    const error = await stream.finalMessage().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(error).toMatchObject({
      error: { type: 'error', error: { type: 'api_error', code: 'upstream_broke_off' } },
    });
    expect(stream.currentMessage?.content).toMatchObject([{ text: 'Good morning.' }]);
    await w.balanced();
    expect(w.ledger.consumedRaw(AGENT)).toBeGreaterThan(0n);
  });

  it.each([
    ['invalid_request_error', 'invalid_request_error'],
    ['server_error', 'api_error'],
  ])(
    'a Messages stream over a chat upstream relays an error in the stream, %s as %s',
    async (theirs, type) => {
      await using w = await world();
      const said = { error: { message: 'too long', type: theirs } };
      w.upstream.play({
        pieces: [...wordEvents(['Good.']).slice(0, 2), `data: ${JSON.stringify(said)}\n\n`],
      });
      const error = await w.claude.messages
        .stream(asked)
        .finalMessage()
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        error: {
          error: { type, message: expect.stringContaining('too long') },
        },
      });
      await w.balanced();
    },
  );

  it('a Messages request that chat cannot express is refused before any upstream call', async () => {
    await using w = await world();
    const wishes: readonly (readonly [string, object])[] = [
      ['tools.0', { tools: [{ type: 'bash_20250124', name: 'bash' }] }],
      ['top_k', { top_k: 5 }],
      [
        'messages.0.content.0',
        { messages: [{ role: 'user', content: [{ type: 'browser_state', tabs: [] }] }] },
      ],
    ];
    for (const [param, wish] of wishes) {
      const response = await w.gateway.request('/messages', { body: { ...asked, ...wish } });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        type: 'error',
        error: {
          type: 'invalid_request_error',
          code: 'invalid_request',
          param: expect.stringContaining(param),
        },
      });
    }
    expect(w.upstream.seen).toEqual([]);
    await w.balanced();
  });

  it('a Messages request refused by its chat upstream gets the refusal in Anthropic’s envelope', async () => {
    await using w = await world();
    w.upstream.play({
      status: 400,
      headers: { 'content-type': 'application/json' },
      pieces: [JSON.stringify({ error: { message: 'as told', type: 'x', code: null } })],
    });
    const error = await w.claude.messages.create(asked).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.BadRequestError);
    expect(error).toMatchObject({
      error: { type: 'error', error: { type: 'invalid_request_error', message: 'as told' } },
    });
    await w.balanced();
  });

  it('a Messages request for an answer by a schema is translated to chat’s response_format', async () => {
    await using w = await world();
    w.upstream.play(wholeAnswer({ content: '{"a":1}' }));
    const schema = {
      type: 'object',
      properties: { a: { type: 'number' } },
      required: ['a'],
      additionalProperties: false,
    };
    await w.claude.messages.create({
      ...asked,
      output_config: { format: { type: 'json_schema', schema } },
    });
    expect(w.upstream.seen[0]).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { schema, strict: true } },
    });
  });

  it('a Messages answer of a chat upstream without usage is estimated, and reports the estimate', async () => {
    await using w = await world();
    w.upstream.play(wholeAnswer({ content: 'Good morning.' }, { usage: undefined }));
    const { usage } = await w.claude.messages.create(asked);
    // Four characters a token, rounded up.
    expect(usage).toMatchObject({ input_tokens: 4, output_tokens: 4 });
    await w.balanced();
  });
});
