import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject, type Json } from '../../../../src/kernel/json.ts';
import type { Model } from '../../../../src/models/catalogue/catalogue.ts';
import { boundChat } from '../../../../src/models/chat/bound-chat.ts';
import { readChat } from '../../../../src/models/dialects/chat-reader.ts';
import { MessageWriter } from '../../../../src/models/dialects/message-writer.ts';
import { WrittenStream } from '../../../../src/models/dialects/written-stream.ts';
import { messageOfCompletion } from '../../../../src/models/messages/from-chat/message-of-completion.ts';
import { messageUsage } from '../../../../src/models/messages/from-chat/message-usage.ts';
import { measureMessages } from '../../../../src/models/messages/measure-messages.ts';
import { MessagesRequest } from '../../../../src/models/messages/messages-request.ts';
import { translateToChat } from '../../../../src/models/messages/to-chat/translate-request.ts';
import { readMessageUsage } from '../../../../src/models/providers/anthropic/message-usage.ts';
import { translateAnswer } from '../../../../src/models/providers/anthropic/translate-answer.ts';
import { translateRequest } from '../../../../src/models/providers/anthropic/translate-request.ts';
import type { ChatStream, TokenUsage } from '../../../../src/models/providers/chat-rail.ts';
import { EFFORTS, type Effort, effortsBetween } from '../../../../src/models/providers/efforts.ts';
import { streamOfWhole } from '../../../../src/models/providers/openai/whole-stream.ts';

/** Texts that say something: blank ones are left out. */
const words = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((text) => text.trim() !== '');
const input = fc
  .dictionary(fc.constantFrom('city', 'days', 'note'), fc.jsonValue({ maxDepth: 2 }))
  // JSON has no negative zero.
  .map((value) => JSON.parse(JSON.stringify(value)) as Json);
const said = words.map((text) => ({ type: 'text', text }));
const picture = fc
  .base64String({ minLength: 4, maxLength: 16 })
  .map((data) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }));
const document = fc
  .record({
    data: fc.base64String({ minLength: 4, maxLength: 16 }),
    title: fc.option(words, { nil: undefined }),
  })
  .map(({ data, title }) => ({
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data },
    ...(title !== undefined && { title }),
  }));

/** A turn of the user, and an answer that calls tools, whose results the next turn brings. */
const exchange = fc.record({
  asked: fc.array(fc.oneof(said, picture, document), { minLength: 1, maxLength: 3 }),
  answered: fc.array(words, { maxLength: 2 }),
  calls: fc.array(fc.record({ input, result: words, isError: fc.boolean() }), { maxLength: 3 }),
});

type Exchange = typeof exchange extends fc.Arbitrary<infer T> ? T : never;

/** The turns of some exchanges, in the order that the dialect wants. */
function turnsOf(exchanges: readonly Exchange[]): { role: string; content: Json[] }[] {
  const turns: { role: string; content: Json[] }[] = [];
  let results: Json[] = [];
  for (const [at, { answered, asked, calls }] of exchanges.entries()) {
    turns.push({ role: 'user', content: [...results, ...asked] });
    const uses = calls.map((call, i) => ({
      type: 'tool_use',
      id: `toolu_${at}_${i}`,
      name: 'weather',
      input: call.input,
    }));
    results = calls.map((call, i) => ({
      type: 'tool_result',
      tool_use_id: `toolu_${at}_${i}`,
      is_error: call.isError,
      content: [{ type: 'text', text: call.result }],
    }));
    const content = [...answered.map((text) => ({ type: 'text', text })), ...uses];
    turns.push({
      role: 'assistant',
      content: content.length > 0 ? content : [{ type: 'text', text: '.' }],
    });
  }
  turns.push({ role: 'user', content: [...results, { type: 'text', text: 'So?' }] });
  return turns;
}

const TOOL = {
  name: 'weather',
  description: 'Of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
};

const STRICT_TOOL = {
  ...TOOL,
  strict: true,
  input_schema: { ...TOOL.input_schema, required: ['city'], additionalProperties: false },
};

const OF_CLAUDE = effortsBetween('low', 'max');

/** What both vendors keep to, so that nothing of it has to be said in words. */
const member = fc.constantFrom(
  { type: 'string', description: 'A city' },
  { type: 'array', items: { type: 'integer' }, minItems: 1 },
  { anyOf: [{ type: 'null' }, { enum: ['a', 'b'] }] },
  { type: 'object', properties: { at: { type: 'number' } }, additionalProperties: false },
);
const schema = fc
  .dictionary(fc.string(), member)
  .map((properties) => ({ type: 'object', properties, additionalProperties: false }));
/** What may be promised of an answer: its format, and the arguments of its calls. */
const promises = fc.record({
  format: fc.option(schema.map((of) => ({ type: 'json_schema', schema: of }))),
  isStrict: fc.boolean(),
});

const requestOf = (messages: unknown, more: object = {}) =>
  MessagesRequest.parse({ model: 'a/b', max_tokens: 100, messages, tools: [TOOL], ...more });

/** Blocks of the same kind that stand together are one text: the other dialect does not keep them apart. */
function plain(content: unknown): unknown[] {
  const blocks: Json[] = [];
  for (const block of content as readonly Json[]) {
    const last = blocks.at(-1);
    const { is_error: _, ...rest } = block;
    if (rest.type === 'text' && last?.type === 'text') {
      blocks[blocks.length - 1] = {
        type: 'text',
        text: `${String(last.text)}${String(rest.text)}`,
      };
    } else blocks.push(rest);
  }
  return blocks;
}

describe('a request of the Messages dialect that is translated to chat, and by the way back again', () => {
  it('a Messages request translated to chat and back keeps its texts, images, documents, calls and results in order', () => {
    fc.assert(
      fc.property(fc.array(exchange, { maxLength: 4 }), fc.option(words), (exchanges, system) => {
        const turns = turnsOf(exchanges);
        const request = requestOf(turns, system === null ? {} : { system });
        const back = translateRequest(translateToChat(request));
        expect(back.messages.map(({ role, content }) => [role, plain(content)])).toEqual(
          turns.map(({ role, content }) => [role, plain(content)]),
        );
        expect(back.system?.map(({ text }) => text)).toEqual(
          system === null ? undefined : [system],
        );
        expect(back.tools).toEqual([TOOL]);
        expect(back.max_tokens).toBe(100);
      }),
    );
  });

  it('a Messages request translated to chat and back keeps its effort as near as both models accept', () => {
    const effortOf = (effort: Effort, taken: readonly Effort[]) => {
      const request = requestOf(turnsOf([]), { output_config: { effort } });
      const back = translateRequest(translateToChat(request, { efforts: taken }), {
        efforts: OF_CLAUDE,
      });
      return back.output_config?.effort;
    };
    expect(OF_CLAUDE.map((effort) => effortOf(effort, EFFORTS))).toEqual(OF_CLAUDE);
    const toXhigh = effortsBetween('none', 'xhigh');
    expect(OF_CLAUDE.map((effort) => effortOf(effort, toXhigh))).toEqual([
      'low',
      'medium',
      'high',
      'xhigh',
      'xhigh',
    ]);
  });

  it('a Messages request translated to chat and back keeps its answer format and its tools’ strictness', () => {
    fc.assert(
      fc.property(promises, ({ format, isStrict }) => {
        const tools = [isStrict ? STRICT_TOOL : TOOL];
        const config = format === null ? {} : { output_config: { format } };
        const request = requestOf(turnsOf([]), { tools, ...config });
        const { output_config, tools: back } = translateRequest(translateToChat(request));
        expect({ output_config, tools: back }).toEqual({ tools, ...config });
      }),
    );
  });

  it('the hold for a Messages request is no less than for its translation to chat', () => {
    fc.assert(
      fc.property(fc.array(exchange, { maxLength: 4 }), fc.option(words), (exchanges, system) => {
        const request = requestOf(turnsOf(exchanges), system === null ? {} : { system });
        const held = boundChat(measureMessages(request), MODEL).tokens;
        const translated = boundChat(translateToChat(request), MODEL).tokens;
        expect(held.inputTokens).toBeGreaterThanOrEqual(translated.inputTokens);
        expect(held.outputTokens).toBe(translated.outputTokens);
      }),
    );
  });
});

const MODEL: Model = {
  id: 'a/b',
  modality: 'text',
  contextWindow: null,
  maxOutputTokens: null,
  sources: [],
};

const usage = fc
  .record({
    fresh: fc.nat(1_000),
    cached: fc.nat(1_000),
    written: fc.nat(1_000),
    out: fc.nat(1_000),
  })
  .map(
    ({ cached, fresh, out, written }): TokenUsage => ({
      inputTokens: fresh + cached + written,
      cachedTokens: cached,
      outputTokens: out,
      ...(written > 0 && {
        cacheWriteTokens: written,
        cacheWriteSurcharge: Math.ceil(written / 4),
      }),
    }),
  );

const answer = fc.record({
  text: fc.option(words),
  calls: fc.array(fc.record({ name: fc.constantFrom('weather', 'time'), input }), { maxLength: 3 }),
});

type Answer = typeof answer extends fc.Arbitrary<infer T> ? T : never;

function completionOf({ calls, text }: Answer) {
  const tool_calls = calls.map(({ input: given, name }, i) => ({
    id: `call_${i}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
  }));
  const message = { role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls }) };
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason }],
  };
}

const READING = { spareId: 'spare', wantsThoughts: true };

/** The message that a client puts together of a stream. */
async function gathered(stream: ChatStream): Promise<Json> {
  const content: Json[] = [];
  const inputs = new Map<number, string>();
  let message: Json = {};
  for (let piece = await stream.next(); piece !== undefined; piece = await stream.next()) {
    for (const event of Buffer.from(piece).toString().split('\n\n')) {
      if (event === '') continue;
      const data = JSON.parse(event.slice(event.indexOf('data: ') + 6)) as Json;
      const at = data.index as number;
      const delta = (data.delta ?? {}) as Json;
      if (data.type === 'message_start') message = data.message as Json;
      if (data.type === 'content_block_start') content[at] = data.content_block as Json;
      if (delta.type === 'text_delta') {
        content[at] = { ...content[at], text: `${String(content[at]?.text)}${String(delta.text)}` };
      }
      if (delta.type === 'input_json_delta') {
        inputs.set(at, (inputs.get(at) ?? '') + String(delta.partial_json));
      }
      if (data.type === 'message_delta') {
        message = { ...message, ...delta, usage: data.usage };
      }
    }
  }
  for (const [at, text] of inputs) content[at] = { ...content[at], input: JSON.parse(text) };
  return { ...message, content };
}

describe('an answer of the OpenAI dialect', () => {
  it('a completion translated to a message and back keeps its text, calls, finish reason and usage', async () => {
    await fc.assert(
      fc.asyncProperty(answer, usage, async (given, used) => {
        const completion = completionOf(given);
        const bytes = Buffer.from(JSON.stringify(completion));
        const message = await messageOfCompletion({ body: bytes }, READING, used);
        const back = translateAnswer(message, 1);
        const choices = (back?.completion.choices ?? []) as {
          message: Json;
          finish_reason: string;
        }[];
        const [choice] = choices;
        const { message: told, finish_reason } = completion.choices[0] ?? { message: {} as Json };
        expect(choice?.finish_reason).toBe(finish_reason);
        expect(choice?.message.tool_calls).toEqual(told.tool_calls);
        expect(choice?.message.content ?? '').toBe(given.text ?? '');
        const { cacheWriteSurcharge: _, ...counts } = used;
        const { cacheWriteSurcharge: __, ...read } = readMessageUsage(messageUsage(used)) ?? {};
        expect(read).toEqual(counts);
        expect(isObject(message) && message.usage).toEqual(messageUsage(used));
      }),
    );
  });

  it('a streamed completion translated to Messages gives the same message as the whole completion', async () => {
    await fc.assert(
      fc.asyncProperty(answer, usage, async (given, used) => {
        const body = Buffer.from(JSON.stringify(completionOf(given)));
        const whole = { body, contentType: 'application/json', usage: used, answerChars: 1 };
        const writer = new MessageWriter(READING, { promptTokens: 1, tokensOf: () => used });
        const stream = new WrittenStream(readChat(streamOfWhole(whole, {})), writer);
        const message = await messageOfCompletion({ body }, READING, used);
        expect(await gathered(stream)).toEqual(message);
      }),
    );
  });
});
