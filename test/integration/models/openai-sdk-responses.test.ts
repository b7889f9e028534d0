import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { thrownBy } from '../../support/counted-openai.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { CHAT_MODEL, OTHER_KEY, OWN_MODEL, responsesWorld } from '../../support/responses-world.ts';
import {
  callEvent,
  chunkEvent,
  DONE,
  deltaEvent,
  finishEvent,
  usageEvent,
  wholeAnswer,
  wordEvents,
} from '../../support/stream-upstream.ts';

/** 1,200 tokens at 2.5 and 400 at 10, with five per cent. */
const METERED_RAW = 7_350n;
const WORDS = ['Good ', 'morning', ' to', ' you', '.'];
const SAID = WORDS.join('');
/** As long as 1,200 tokens are at least: an upstream is believed as far as its request can have come to. */
const PROMPT = 'Good morning?'.padEnd(1_300, '.');
const tool = {
  ...({ type: 'function', name: 'weather', strict: true } as const),
  parameters: {
    type: 'object',
    properties: { at: { type: 'string' } },
    required: ['at'],
    additionalProperties: false,
  },
};
const CALL = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"at":"Rome"}' },
};
const USED = {
  input_tokens: 1_200,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 400,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 1_600,
};

let database: TestDatabase;
let world: Awaited<ReturnType<typeof responsesWorld>>;
let openai: OpenAI;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  world = await responsesWorld({ sql: database.sql });
  openai = world.gateway.openai;
  return () => world[Symbol.asyncDispose]();
});

/** What the upstream of either kind says next: words, or a call of the tool. */
function play(answer: 'words' | 'call') {
  const isCall = answer === 'call';
  const { arguments: args, name } = CALL.function;
  world.own.play({ items: [isCall ? { call: name, args } : { say: WORDS }] });
  const calls = [
    callEvent(0, { name, arguments: '' }, CALL),
    callEvent(0, { arguments: args.slice(0, 6) }),
    callEvent(0, { arguments: args.slice(6) }),
    finishEvent('tool_calls'),
  ];
  world.chat.play(({ stream }) =>
    stream === true
      ? { pieces: [...(isCall ? calls : wordEvents(WORDS)), usageEvent(), DONE] }
      : wholeAnswer(isCall ? { content: null, tool_calls: [CALL] } : { content: SAID }),
  );
}

describe.each([
  ['an upstream that speaks chat', CHAT_MODEL],
  ['an upstream that speaks Responses', OWN_MODEL],
])('responses of the openai client over %s', (_, model) => {
  it('the openai client’s responses create returns its receipt beside the answer', async () => {
    play('words');
    const { data, response } = await openai.responses
      .create({ model, input: PROMPT, instructions: 'Be kind.', max_output_tokens: 500 })
      .withResponse();
    expect(data.output_text).toBe(SAID);
    expect(data).toMatchObject({ model, status: 'completed', store: true, usage: USED });
    expect(data).toMatchObject({ instructions: 'Be kind.', previous_response_id: null });
    expect(data.id).toMatch(/^resp_[0-9a-f]{24}$/);
    expect(response.headers.get('x-svc-cost-usdc')).toBe(String(METERED_RAW));
    expect(response.headers.get('x-svc-model')).toBe(model);
    expect(await world.charged()).toBe(METERED_RAW);
  });

  it('the openai client’s responses create with stream yields OpenAI’s events in order, numbered from 0', async () => {
    play('words');
    const events = [];
    for await (const event of await openai.responses.create({ model, input: PROMPT, stream: true }))
      events.push(event);
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      ...WORDS.map(() => 'response.output_text.delta'),
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((__, i) => i));
    expect(events.at(-1)).toMatchObject({ response: { model, usage: USED, status: 'completed' } });
    expect(await world.charged()).toBe(METERED_RAW);
  });

  it('the openai client’s responses stream yields text as it arrives, and the whole response at its end', async () => {
    play('words');
    const runner = openai.responses.stream({ model, input: PROMPT });
    const deltas: string[] = [];
    runner.on('response.output_text.delta', ({ delta }) => deltas.push(delta));
    const whole = await runner.finalResponse();
    expect(deltas).toEqual(WORDS);
    expect(whole.output_text).toBe(SAID);
    expect(await openai.responses.retrieve(whole.id)).toMatchObject({ output_text: SAID });
  });

  it('the openai client’s response calls a tool, whole and streamed, and takes its result by previous_response_id', async () => {
    for (const stream of [false, true]) {
      play('call');
      const wanted = { model, input: 'Rome?', tools: [tool], tool_choice: 'required' as const };
      const first = stream
        ? await openai.responses.stream(wanted).finalResponse()
        : await openai.responses.create(wanted);
      const [item] = first.output;
      expect(item).toMatchObject({ type: 'function_call', ...CALL.function, status: 'completed' });
      const call_id = item?.type === 'function_call' ? item.call_id : '';
      play('words');
      const second = await openai.responses.create({
        model,
        previous_response_id: first.id,
        tools: [tool],
        input: [{ type: 'function_call_output', call_id, output: 'fine' }],
      });
      expect(second.output_text).toBe(SAID);
      const asked = model === CHAT_MODEL ? world.chat.seen.at(-1) : world.own.seen.at(-1)?.body;
      if (model === CHAT_MODEL) {
        expect(asked).toMatchObject({
          messages: [
            { role: 'user', content: 'Rome?' },
            { role: 'assistant', content: null, tool_calls: [CALL] },
            { role: 'tool', tool_call_id: call_id, content: 'fine' },
          ],
          tools: [{ type: 'function', function: { name: 'weather', strict: true } }],
        });
      } else {
        expect(asked).toMatchObject({
          store: false,
          tools: [tool],
          input: [
            { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Rome?' }] },
            { type: 'function_call', call_id, ...CALL.function },
            { type: 'function_call_output', call_id, output: 'fine' },
          ],
        });
        expect(asked).not.toHaveProperty('previous_response_id');
      }
      const { data } = await openai.responses.inputItems.list(second.id, { order: 'asc' });
      expect(data.map(({ type }) => type)).toEqual([
        'message',
        'function_call',
        'function_call_output',
      ]);
    }
  });

  it('the openai client’s responses parse sends its schema and parses the answer', async () => {
    world.own.play({ items: [{ say: ['{"sum":5}'] }] });
    world.chat.play(wholeAnswer({ content: '{"sum":5}' }));
    const format = zodTextFormat(z.object({ sum: z.number() }), 'addition');
    const parsed = await openai.responses.parse({ model, input: '2 + 3?', text: { format } });
    expect(parsed.output_parsed).toEqual({ sum: 5 });
    if (model !== CHAT_MODEL) {
      expect(world.own.seen.at(-1)?.body.text).toEqual({ format: { ...format } });
      return;
    }
    const { type: __, ...json_schema } = JSON.parse(JSON.stringify(format));
    expect(world.chat.seen.at(-1)?.response_format).toEqual({ type: 'json_schema', json_schema });
  });

  it('a stored response is retrieved, listed and deleted by its own agent alone, and gone after its deletion', async () => {
    play('words');
    const { id } = await openai.responses.create({ model, input: PROMPT });
    const other = new OpenAI({ apiKey: OTHER_KEY, baseURL: world.gateway.baseUrl });
    for (const call of [
      () => other.responses.retrieve(id),
      () => other.responses.delete(id),
      () => other.responses.cancel(id),
      () => other.responses.inputItems.list(id),
    ]) {
      expect(await thrownBy(call())).toMatchObject({ status: 404, code: 'response_not_found' });
    }
    const going = other.responses.create({ model, input: 'x', previous_response_id: id });
    expect(await thrownBy(going)).toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    });
    expect(await openai.responses.retrieve(id)).toMatchObject({ id, output_text: SAID });
    expect((await openai.responses.inputItems.list(id)).data).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: PROMPT }] },
    ]);
    expect(await thrownBy(openai.responses.cancel(id))).toMatchObject({ status: 400 });
    const next = { model, input: 'And?', previous_response_id: id };
    const { id: nextId } = await openai.responses.create(next);
    expect((await openai.responses.inputItems.list(nextId)).data).toHaveLength(3);
    await openai.responses.delete(id);
    expect(await thrownBy(openai.responses.retrieve(id))).toMatchObject({ status: 404 });
    expect((await openai.responses.inputItems.list(nextId)).data).toMatchObject([
      { role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
    ]);
    expect(await thrownBy(openai.responses.create(next))).toMatchObject({
      code: 'previous_response_not_found',
    });
    const [row] = await database.sql<{ n: number }[]>`
      select count(*)::integer as n from model_responses where id = ${id}`;
    expect(row?.n).toBe(0);
  });

  it('a response with store: false is not stored, and returns the answer', async () => {
    play('words');
    const made = await openai.responses.create({ model, input: PROMPT, store: false });
    expect(made).toMatchObject({ store: false, output_text: SAID });
    expect(await thrownBy(openai.responses.retrieve(made.id))).toMatchObject({ status: 404 });
    const [row] = await database.sql<{ n: number }[]>`
      select count(*)::integer as n from model_responses where id = ${made.id}`;
    expect(row?.n).toBe(0);
  });

  it('a response request takes items by reference, and refuses a reference to a deleted item', async () => {
    play('words');
    const { output } = await openai.responses.create({ model, input: 'Hello.' });
    const reference = (id: string) => ({ type: 'item_reference' as const, id });
    const input = [
      { role: 'user' as const, content: 'Hello.' },
      reference(output[0]?.id ?? ''),
      { role: 'user' as const, content: 'And?' },
    ];
    await openai.responses.create({ model, input });
    const asked = model === CHAT_MODEL ? world.chat.seen.at(-1) : world.own.seen.at(-1)?.body;
    expect(asked?.[model === CHAT_MODEL ? 'messages' : 'input']).toMatchObject([
      { role: 'user', content: 'Hello.' },
      {
        role: 'assistant',
        content: model === CHAT_MODEL ? SAID : [{ type: 'output_text', text: SAID }],
      },
      { role: 'user', content: 'And?' },
    ]);
    const many = Array.from({ length: 1_000 }, () => reference(output[0]?.id ?? ''));
    const amplified = openai.responses.create({ model, input: many });
    expect(await thrownBy(amplified)).toMatchObject({ status: 400, param: 'input' });
    const gone = openai.responses.create({ model, input: [reference('msg_none')] });
    expect(await thrownBy(gone)).toMatchObject({ status: 404, code: 'item_not_found' });
  });

  it('the openai client gets a 400 for each response feature that is not served, and is charged nothing', async () => {
    for (const [more, param] of [
      [{ background: true }, 'background'],
      [{ conversation: 'conv_1' }, 'conversation'],
      [{ tools: [{ type: 'web_search' }] }, 'tools[0]'],
      [{ tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }, 'tools[0]'],
      [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
      [{ multi_agent: { enabled: true } }, 'multi_agent'],
      [{ reasoning: { mode: 'pro' } }, 'reasoning.mode'],
      [{ service_tier: 'priority' }, 'service_tier'],
    ] as const) {
      const call = openai.responses.create({ model, input: 'x', ...(more as object) });
      expect(await thrownBy(call)).toMatchObject({
        status: 400,
        type: 'invalid_request_error',
        param,
      });
    }
    expect(world.own.seen).toEqual([]);
    expect(world.chat.seen).toEqual([]);
    expect(await world.charged()).toBe(0n);
  });
});

describe('a response that is translated', () => {
  const model = CHAT_MODEL;

  it('a translated response has thoughts, text and calls as separate items, each of which ends before the next', async () => {
    const second = { id: 'call_2', type: 'function' };
    world.chat.play({
      pieces: [
        deltaEvent({ role: 'assistant', content: '', reasoning_content: 'Hm' }),
        deltaEvent({ reasoning_content: ', Rome.' }),
        deltaEvent({ content: 'I ' }),
        deltaEvent({ content: 'look.' }),
        callEvent(0, { name: 'weather', arguments: '{"at":' }, CALL),
        callEvent(0, { arguments: '"Rome"}' }),
        callEvent(1, { name: 'weather', arguments: '{}' }, second),
        finishEvent('tool_calls'),
        usageEvent(),
        DONE,
      ],
    });
    const types: string[] = [];
    const runner = openai.responses.stream({ model, input: PROMPT, tools: [tool] });
    runner.on('event', (event) => {
      if ('output_index' in event) types.push(`${event.output_index} ${event.type}`);
    });
    const { output } = await runner.finalResponse();
    expect(output).toMatchObject([
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hm, Rome.' }] },
      { type: 'message', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', call_id: 'call_1', arguments: '{"at":"Rome"}' },
      { type: 'function_call', call_id: 'call_2', arguments: '{}' },
    ]);
    const indices = types.map((type) => Number(type[0]));
    expect(indices).toEqual(indices.toSorted());
    expect(types).toContain('2 response.function_call_arguments.done');
  });

  it('a translated response ends as incomplete when its answer was cut short', async () => {
    const pieces = [...wordEvents(WORDS).slice(0, -1), finishEvent('length'), usageEvent(), DONE];
    world.chat.play({ pieces });
    const events = [];
    for await (const event of await openai.responses.create({ model, input: PROMPT, stream: true }))
      events.push(event);
    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    });
  });

  it('a translated response has log probabilities when requested', async () => {
    const logprobs = { content: [{ token: 'Hi', logprob: -0.1, bytes: [72], top_logprobs: [] }] };
    world.chat.play({
      pieces: [
        chunkEvent([{ index: 0, delta: { content: 'Hi' }, logprobs, finish_reason: null }]),
        finishEvent('stop'),
        usageEvent(),
        DONE,
      ],
    });
    const { output } = await openai.responses
      .stream({ model, input: PROMPT, include: ['message.output_text.logprobs'], top_logprobs: 2 })
      .finalResponse();
    expect(output[0]).toMatchObject({ content: [{ text: 'Hi', logprobs: logprobs.content }] });
    expect(world.chat.seen.at(-1)).toMatchObject({ logprobs: true, top_logprobs: 2 });
  });

  it('a translated response fails after the text that arrived when its upstream breaks off, and is charged for it', async () => {
    world.chat.play({ pieces: wordEvents(WORDS).slice(0, 3), ends: 'cut' });
    const events = [];
    for await (const event of await openai.responses.create({ model, input: PROMPT, stream: true }))
      events.push(event);
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      sequence_number: events.length - 1,
      response: { status: 'failed', error: { code: 'server_error' } },
    });
    expect(await world.charged()).toBeGreaterThan(0n);
  });

  it('a translated response has estimated usage when its upstream reports none', async () => {
    world.chat.play(wholeAnswer({ content: SAID }, { usage: undefined }));
    const { usage } = await openai.responses.create({ model, input: PROMPT });
    expect(usage).toMatchObject({ input_tokens: PROMPT.length / 4, output_tokens: 5 });
  });

  it('a streamed response that is cancelled ends as cancelled, is charged for what arrived, and is stored so', async () => {
    world.chat.play({ pieces: wordEvents(WORDS).slice(0, 3), ends: 'hang' });
    const stream = await openai.responses.create({ model, input: PROMPT, stream: true });
    let id = '';
    let last: OpenAI.Responses.ResponseStreamEvent | undefined;
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id;
      if (event.type === 'response.output_text.delta' && event.delta === WORDS[1]) {
        expect(await openai.responses.retrieve(id)).toMatchObject({ status: 'in_progress' });
        expect(await openai.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' });
      }
      last = event;
    }
    expect(last).toMatchObject({ response: { id, status: 'cancelled' } });
    expect(await openai.responses.retrieve(id)).toMatchObject({ status: 'cancelled' });
    await expect.poll(() => world.chat.abandoned.count).toBe(1);
    expect(await world.charged()).toBeGreaterThan(0n);
  });
});
