import OpenAI from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { countedOpenAi, thrownBy } from '../../support/counted-openai.ts';
import { AGENT_KEY } from '../../support/gateway-world.ts';
import {
  DONE,
  toolCallEvents,
  USAGE,
  usageEvent,
  wholeAnswer,
  wordEvents,
} from '../../support/stream-upstream.ts';
import { type StreamWorld, streamWorld } from '../../support/stream-world.ts';

const MODEL = 'acme/fast-1';
/** 1,200 tokens at 2.5 and 400 at 10, with five per cent. */
const METERED_RAW = 7_350n;
const messages = [{ role: 'user' as const, content: 'Good morning?' }];
const WORDS = ['Good ', 'morning', ' to', ' you', '.'];
const weather = {
  name: 'weather',
  parameters: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
};
const CALL = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"at":"Rome"}' },
};

let charged: StreamWorld['charged'];
let gateway: StreamWorld['gateway'];
let ledger: StreamWorld['ledger'];
let upstream: StreamWorld['upstream'];
let openai: OpenAI;
let sent: string[];

beforeEach(async () => {
  const world = await streamWorld();
  ({ charged, gateway, ledger, upstream } = world);
  ({ openai, sent } = countedOpenAi({ apiKey: AGENT_KEY, baseURL: gateway.baseUrl }));
  return () => world[Symbol.asyncDispose]();
});

const asked = () => upstream.seen.at(-1);

describe('chat.completions of the openai client', () => {
  it('the openai client’s chat create returns its receipt beside the answer', async () => {
    upstream.play(wholeAnswer({ content: 'Good morning.' }));
    const { data, response } = await openai.chat.completions
      .create({ model: MODEL, messages })
      .withResponse();
    expect(data.choices[0]?.message.content).toBe('Good morning.');
    expect(data.usage).toEqual(USAGE);
    expect(response.headers.get('x-svc-cost-usdc')).toBe(String(METERED_RAW));
    const raw = await openai.chat.completions.create({ model: MODEL, messages }).asResponse();
    expect(await raw.json()).toEqual(data);
    expect(await charged()).toBe(2n * METERED_RAW);
  });

  it('the openai client’s chat create with stream yields every chunk, and usage when requested', async () => {
    upstream.play({ pieces: [...wordEvents(WORDS), usageEvent(), DONE] });
    for (const include_usage of [true, false]) {
      const { data: stream, response } = await openai.chat.completions
        .create({ model: MODEL, messages, stream: true, stream_options: { include_usage } })
        .withResponse();
      const chunks = [];
      for await (const chunk of stream) chunks.push(chunk);
      expect(response.headers.get('x-svc-model')).toBe(MODEL);
      const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
      expect(text).toBe(WORDS.join(''));
      expect(chunks.find(({ usage }) => usage)?.usage).toEqual(include_usage ? USAGE : undefined);
    }
    expect(await charged()).toBe(2n * METERED_RAW);
  });

  it('the openai client’s chat stream yields text as it arrives, and the whole completion at its end', async () => {
    upstream.play({ pieces: [...wordEvents(WORDS), usageEvent(), DONE] });
    const runner = openai.chat.completions.stream({
      model: MODEL,
      messages,
      stream_options: { include_usage: true },
    });
    const deltas: string[] = [];
    runner.on('content', (delta) => deltas.push(delta));
    const whole = await runner.finalChatCompletion();
    expect(deltas).toEqual(['', ...WORDS].filter((delta) => delta !== ''));
    expect(whole.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: WORDS.join('') },
    });
    expect(whole.usage).toEqual(USAGE);
    expect(await runner.totalUsage()).toMatchObject(USAGE);
    expect(await charged()).toBe(METERED_RAW);
  });

  it('the openai client’s chat stream assembles tool calls from their pieces', async () => {
    upstream.play({ pieces: [...toolCallEvents(CALL), usageEvent(), DONE] });
    const runner = openai.chat.completions.stream({
      model: MODEL,
      messages,
      parallel_tool_calls: false,
      tools: [{ type: 'function', function: weather }],
    });
    const done: string[] = [];
    runner.on('tool_calls.function.arguments.done', ({ name, arguments: of }) => {
      done.push(`${name} ${of}`);
    });
    const { choices } = await runner.finalChatCompletion();
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, tool_calls: [CALL] },
    });
    expect(done).toEqual([`weather ${CALL.function.arguments}`]);
    expect(asked()).toMatchObject({ parallel_tool_calls: false, tools: [{ function: weather }] });
    expect(await charged()).toBe(METERED_RAW);
  });

  it('the openai client’s runTools calls the tool and sends its result back, whole and streamed', async () => {
    const seenFrom = upstream.seen.length;
    const hasResult = ({ messages: told }: Record<string, unknown>) =>
      (told as { role: string }[]).some(({ role }) => role === 'tool');
    const tools = [
      zodFunction({
        name: 'weather',
        parameters: z.object({ at: z.string() }),
        function: ({ at }) => `fine in ${at}`,
      }),
    ];
    upstream.play((body) =>
      wholeAnswer(
        hasResult(body) ? { content: 'It is fine.' } : { content: null, tool_calls: [CALL] },
      ),
    );
    const whole = openai.chat.completions.runTools({ model: MODEL, messages, tools });
    expect(await whole.finalContent()).toBe('It is fine.');
    upstream.play((body) => ({
      pieces: [
        ...(hasResult(body) ? wordEvents(['It is fine.']) : toolCallEvents(CALL)),
        usageEvent(),
        DONE,
      ],
    }));
    const streamed = openai.chat.completions.runTools({
      model: MODEL,
      messages,
      tools,
      stream: true,
    });
    expect(await streamed.finalContent()).toBe('It is fine.');
    for (const i of [1, 3]) {
      expect(upstream.seen[seenFrom + i]?.messages).toMatchObject([
        ...messages,
        { role: 'assistant', tool_calls: [CALL] },
        { role: 'tool', tool_call_id: 'call_1', content: 'fine in Rome' },
      ]);
    }
    expect(await charged()).toBe(4n * METERED_RAW);
  });

  it('the openai client’s chat parse sends its schema and parses the answer, whole and streamed', async () => {
    const format = zodResponseFormat(z.object({ sum: z.number() }), 'addition');
    const wanted = { model: MODEL, messages, response_format: format };
    upstream.play(wholeAnswer({ content: '{"sum":5}' }));
    const { choices } = await openai.chat.completions.parse(wanted);
    expect(choices[0]?.message.parsed).toEqual({ sum: 5 });
    expect(asked()?.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { name: 'addition', strict: true, schema: { required: ['sum'] } },
    });
    upstream.play({ pieces: [...wordEvents(['{"sum"', ':7}']), usageEvent(), DONE] });
    const streamed = await openai.chat.completions.stream(wanted).finalChatCompletion();
    expect(streamed.choices[0]?.message.parsed).toEqual({ sum: 7 });
    expect(asked()?.response_format).toMatchObject({ json_schema: { name: 'addition' } });
    expect(await charged()).toBe(2n * METERED_RAW);
  });

  it('the openai client throws the error of a broken chat stream after the text that arrived, which is charged', async () => {
    upstream.play({ pieces: wordEvents(WORDS).slice(0, 3), ends: 'cut' });
    const stream = await openai.chat.completions.create({ model: MODEL, messages, stream: true });
    let text = '';
    const read = async () => {
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
    };
    const error = await thrownBy(read());
    expect(error).toMatchObject({ code: 'upstream_broke_off', type: 'upstream_error' });
    expect(text).toBe('Good morning');
    expect(sent).toHaveLength(1);
    expect(await charged()).toBeGreaterThan(0n);
  });
});

describe('a call that the openai client gives up', () => {
  it('the openai client that leaves a chat stream, in any of its ways, stops the upstream call', async () => {
    upstream.play({ pieces: wordEvents(WORDS), ends: 'hang' });
    const from = upstream.abandoned.count;
    const wanted = { model: MODEL, messages, stream: true } as const;
    for await (const _ of await openai.chat.completions.create(wanted)) break;
    const aborted = await openai.chat.completions.create(wanted);
    aborted.controller.abort();
    const runner = openai.chat.completions.stream({ model: MODEL, messages });
    runner.on('content', () => runner.abort());
    await expect(runner.done()).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
    await expect.poll(() => upstream.abandoned.count).toBe(from + 3);
    expect(await charged()).toBeGreaterThan(0n);
    expect(ledger.charges).toHaveLength(3);
    expect(sent).toHaveLength(3);
  });

  it('the openai client that times out retries as often as configured, and is charged nothing', async () => {
    upstream.play({ pieces: [], ends: 'hang' });
    const from = { seen: upstream.seen.length, left: upstream.abandoned.count };
    const call = openai.chat.completions.create(
      { model: MODEL, messages },
      { timeout: 250, maxRetries: 1 },
    );
    expect(await thrownBy(call)).toBeInstanceOf(OpenAI.APIConnectionTimeoutError);
    expect(sent).toHaveLength(2);
    await expect.poll(() => upstream.abandoned.count).toBe(from.left + 2);
    expect(upstream.seen).toHaveLength(from.seen + 2);
    expect(await charged()).toBe(0n);
  });
});

describe('models of the openai client', () => {
  it('the openai client lists models, and retrieves one whose id has a slash, with prices when requested', async () => {
    const entry = { id: MODEL, object: 'model', owned_by: 'svc', modality: 'text' };
    const query = { include: 'pricing' };
    const funded = { input: '2.625000', output: '10.500000' };
    const others = [{ modality: 'stt' }, { modality: 'tts' }, { modality: 'embedding' }];
    expect((await openai.models.list()).data).toMatchObject([entry, ...others]);
    const priced = (await openai.models.list({ query })).data;
    expect(priced).toMatchObject([{ ...entry, pricing: { funded } }, ...others]);
    const plain = await openai.models.retrieve(MODEL);
    expect(plain).toMatchObject(entry);
    expect(plain).not.toHaveProperty('pricing');
    expect(await openai.models.retrieve(MODEL, { query })).toMatchObject({
      ...plain,
      pricing: { funded },
    });
    expect(sent.at(-1)).toBe(`${gateway.baseUrl}/models/acme%2Ffast-1?include=pricing`);
  });
});
