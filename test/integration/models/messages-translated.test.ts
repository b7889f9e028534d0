import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalEngines } from '../../../src/engines/engine.ts';
import { createLocalEngines } from '../../../src/engines/local-engines.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { LOCAL_MODELS } from '../../../src/models/catalogue/builtin/local.ts';
import { createLocalGuideRail } from '../../../src/models/providers/local/local-guide.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { AGENT_KEY, gatewayWorld } from '../../support/gateway-world.ts';
import {
  callEvent,
  DONE,
  deltaEvent,
  finishEvent,
  streamUpstream,
  textEvent,
  toolCallEvents,
  USAGE,
  usageEvent,
  wholeAnswer,
  wordEvents,
} from '../../support/stream-upstream.ts';

const AGENT = 1;
const MODEL = 'acme/fast-1';
const messages = [{ role: 'user' as const, content: 'Good morning?' }];
const asked = { model: MODEL, max_tokens: 1_000, messages };
const WEATHER = {
  name: 'weather',
  description: 'The weather of a city',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};
const CALL = {
  ...{ id: 'call_1', type: 'function' },
  function: { name: 'weather', arguments: '{"city":"Oslo"}' },
};

let engines: LocalEngines;
beforeAll(() => {
  engines = createLocalEngines({ clock: systemClock, random: systemRandom, log: silentLog });
});
afterAll(() => engines[Symbol.asyncDispose]());

/** A model that an OpenAI peer sells, and the guide; an agent with one dollar, and Anthropic's SDK for it. */
async function world() {
  const upstream = await streamUpstream();
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: 1_000_000n, reference: 'start' });
  const rates = { text_input_token: '2.5', text_output_token: '10' };
  const shared = { clock: systemClock, random: systemRandom };
  const callerFacts = async () => ({
    ...{ agentName: 'scout', spendableRaw: 1_000_000n, heldRaw: 0n, spentRaw: 0n },
  });
  const gateway = await gatewayWorld({
    ...{ ledger, tokens: engines.tokens },
    localGuide: createLocalGuideRail({ guide: engines.guide, callerFacts, ...shared }),
    providers: {
      up: { baseUrl: upstream.baseUrl, dialect: 'openai' },
      local: { baseUrl: null, dialect: 'local' },
    },
    models: [
      ...LOCAL_MODELS,
      {
        ...{ id: MODEL, modality: 'text' },
        sources: [{ rail: 'self-host', provider: 'up', upstreamModel: 'x', rates }],
      },
    ],
  });
  const claude = new Anthropic({
    ...{ apiKey: AGENT_KEY, authToken: null, baseURL: gateway.baseUrl.replace(/\/v1$/, '') },
    maxRetries: 0,
  });
  const balanced = async () => {
    await expect.poll(() => ledger.openHolds()).toBe(0);
    const funds = await ledger.funds(AGENT);
    expect((funds?.spendableRaw ?? 0n) + ledger.consumedRaw(AGENT)).toBe(1_000_000n);
  };
  return {
    ...{ upstream, ledger, gateway, claude, balanced },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

describe('Anthropic’s SDK, of a model whose upstream speaks the OpenAI dialect', () => {
  it('has the request translated and the answer put into its words', async () => {
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
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: MODEL, stop_reason: 'end_turn' },
      content: [{ type: 'text', text: 'Good morning.' }],
      usage: { input_tokens: 1_200, output_tokens: 400, cache_read_input_tokens: 0 },
    });
    expect(w.upstream.seen).toEqual([
      {
        ...{ model: 'x', max_tokens: 1_000, stop: ['END'] },
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

  it('calls tools and hands their results over, with a picture behind them', async () => {
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
      ...{ ...asked, tools: [WEATHER], tool_choice: { type: 'any' as const } },
      messages: [
        ...messages,
        { role: 'assistant', content: called.content },
        {
          role: 'user',
          content: [
            {
              ...{ type: 'tool_result' as const, tool_use_id: 'call_1' },
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

  it('streams text, then calls, with the usage at the end and a price before it', async () => {
    await using w = await world();
    const [first, ...calls] = toolCallEvents(CALL);
    w.upstream.play({
      pieces: [
        ...[
          first ?? '',
          textEvent('Let me '),
          ': alive\n\n',
          textEvent('see.'),
          ...calls.slice(0, -1),
        ],
        callEvent(1, { name: 'weather', arguments: '{}' }, { id: 'call_2', type: 'function' }),
        ...[finishEvent('tool_calls'), usageEvent(), DONE],
      ],
    });
    const response = await w.gateway.request('/messages', {
      body: { ...asked, tools: [WEATHER], stream: true },
    });
    const text = await response.text();
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const kinds = [...text.matchAll(/^event: (.*)$/gm)].map(([, kind]) => kind);
    expect(kinds).toEqual([
      ...['message_start', 'content_block_start', 'content_block_delta', 'ping'],
      ...['content_block_delta', 'content_block_stop', 'content_block_start'],
      ...['content_block_delta', 'content_block_delta', 'content_block_stop'],
      ...['content_block_start', 'content_block_delta', 'content_block_stop'],
      ...['message_delta', 'message_stop'],
    ]);
    expect(text).toContain(': svc-cost-usdc=7350\n\nevent: message_stop');
    const message = await w.claude.messages.stream({ ...asked, tools: [WEATHER] }).finalMessage();
    expect(message).toMatchObject({
      ...{ model: MODEL, stop_reason: 'tool_use' },
      content: [
        { type: 'text', text: 'Let me see.' },
        { type: 'tool_use', id: 'call_1', input: { city: 'Oslo' } },
        { type: 'tool_use', id: 'call_2', input: {} },
      ],
      usage: { input_tokens: 1_200, output_tokens: 400 },
    });
    await w.balanced();
  });

  it('hears the thoughts of a model where it asks for them, and sends none back', async () => {
    await using w = await world();
    const pieces = [
      ...[deltaEvent({ role: 'assistant', reasoning_content: 'Hm.' }), textEvent('Good.')],
      ...[finishEvent('stop'), usageEvent(), DONE],
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

  it('that breaks off ends with an error, pays for what came, and has no end', async () => {
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

  it('is told an error that the upstream reports within its stream', async () => {
    await using w = await world();
    const said = { error: { message: 'too long', type: 'invalid_request_error' } };
    w.upstream.play({
      pieces: [...wordEvents(['Good.']).slice(0, 2), `data: ${JSON.stringify(said)}\n\n`],
    });
    const error = await w.claude.messages
      .stream(asked)
      .finalMessage()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      error: {
        error: { type: 'invalid_request_error', message: expect.stringContaining('too long') },
      },
    });
    await w.balanced();
  });

  it('refuses what the other dialect has no word for, before anything is asked', async () => {
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

  it('puts a refusal of the upstream into the envelope of its dialect', async () => {
    await using w = await world();
    w.upstream.play({
      ...{ status: 400, headers: { 'content-type': 'application/json' } },
      pieces: [JSON.stringify({ error: { message: 'as told', type: 'x', code: null } })],
    });
    const error = await w.claude.messages.create(asked).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.BadRequestError);
    expect(error).toMatchObject({
      error: { type: 'error', error: { type: 'invalid_request_error', message: 'as told' } },
    });
    await w.balanced();
  });

  it('asks for an answer in a schema as the other dialect has it', async () => {
    await using w = await world();
    w.upstream.play(wholeAnswer({ content: '{"a":1}' }));
    const schema = { type: 'object', properties: { a: { type: 'number' } } };
    await w.claude.messages.create({
      ...asked,
      output_config: { format: { type: 'json_schema', schema } },
    });
    expect(w.upstream.seen[0]).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { schema, strict: true } },
    });
  });

  it('is estimated where the upstream tells no usage, and the answer says so much', async () => {
    await using w = await world();
    w.upstream.play(wholeAnswer({ content: 'Good morning.' }, { usage: undefined }));
    const { usage } = await w.claude.messages.create(asked);
    // Four characters a token, rounded up.
    expect(usage).toMatchObject({ input_tokens: 4, output_tokens: 4 });
    await w.balanced();
  });
});

describe('Anthropic’s SDK, of the guide', () => {
  const guide = { ...asked, model: 'local/guide' };

  it('is answered, streamed and billed as over the other route', async () => {
    await using w = await world();
    const question = [{ role: 'user' as const, content: 'What is 2 + 3?' }];
    const { data, response } = await w.claude.messages
      .create({ ...guide, messages: question })
      .withResponse();
    expect(data.content).toMatchObject([{ type: 'text', text: expect.stringContaining('5') }]);
    expect(BigInt(response.headers.get('x-svc-cost-usdc') ?? '0')).toBe(
      w.ledger.consumedRaw(AGENT),
    );
    const streamed = await w.claude.messages
      .stream({ ...guide, messages: question })
      .finalMessage();
    expect(streamed.content).toMatchObject([
      { text: data.content[0]?.type === 'text' && data.content[0].text },
    ]);
    expect(streamed.usage).toMatchObject({
      ...{ input_tokens: data.usage.input_tokens, output_tokens: data.usage.output_tokens },
    });
    await w.balanced();
  });

  it('calls a tool that is asked for', async () => {
    await using w = await world();
    const { content, stop_reason } = await w.claude.messages.create({
      ...{ ...guide, tools: [WEATHER], tool_choice: { type: 'tool' as const, name: 'weather' } },
      messages: [{ role: 'user', content: 'The weather in "Oslo"?' }],
    });
    expect(stop_reason).toBe('tool_use');
    expect(content.at(-1)).toMatchObject({ type: 'tool_use', name: 'weather' });
    await w.balanced();
  });

  it('counts tokens as the guide bills them, and images and files by size', async () => {
    await using w = await world();
    const { data, response } = await w.claude.messages
      .countTokens({
        model: 'local/guide',
        messages: [{ role: 'user', content: 'What is 2 + 3?' }],
      })
      .withResponse();
    // Eight tokens, and eight around them.
    expect(data).toEqual({ input_tokens: 16 });
    expect(response.headers.get('x-svc-token-count')).toBe('estimate');
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'aGk=' };
    const pictured = await w.claude.messages.countTokens({
      model: 'local/guide',
      messages: [{ role: 'user', content: [{ type: 'image', source }] }],
    });
    expect(pictured.input_tokens).toBe(1_608);
    expect(w.ledger.charges).toEqual([]);
  });
});

it('an answer under an Idempotency-Key is bought once and replayed', async () => {
  await using w = await world();
  w.upstream.play({ pieces: [...wordEvents(['Good.']), usageEvent(USAGE), DONE] });
  const ask = async () => {
    const response = await w.gateway.request('/messages', {
      body: { ...asked, stream: true },
      headers: { 'idempotency-key': 'k' },
    });
    return { text: await response.text(), headers: response.headers };
  };
  const first = await ask();
  const again = await ask();
  expect(again.text).toBe(first.text);
  expect(again.headers.get('x-svc-idempotent-replay')).toBe('true');
  expect(w.upstream.seen).toHaveLength(1);
  await w.balanced();
});
