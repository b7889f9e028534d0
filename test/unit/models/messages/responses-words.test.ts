import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../src/kernel/json.ts';
import { MessageWriter } from '../../../../src/models/dialects/message-writer.ts';
import { ResponseReader } from '../../../../src/models/dialects/response-reader.ts';
import { WrittenStream } from '../../../../src/models/dialects/written-stream.ts';
import { messageOfCompletion } from '../../../../src/models/messages/from-chat/message-of-completion.ts';
import { MessagesRequest } from '../../../../src/models/messages/messages-request.ts';
import { completionOfResponse } from '../../../../src/models/messages/responses/completion-of-response.ts';
import {
  fitsResponses,
  translateToResponses,
} from '../../../../src/models/messages/responses/translate-chat.ts';
import { translateToChat } from '../../../../src/models/messages/to-chat/translate-request.ts';

const requestOf = (more: object) =>
  MessagesRequest.parse({
    model: 'a/b',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'hi' }],
    ...more,
  });
const usage = { inputTokens: 1, cachedTokens: 0, outputTokens: 1 };
const reading = { spareId: 'spare', wantsThoughts: true };

/** The blocks of a message that a response becomes, whole. */
const wholeOf = async (response: Json) => {
  const json = completionOfResponse(response);
  return messageOfCompletion({ body: new Uint8Array(), json }, reading, usage);
};

/** The data of the events that the events of a response become. */
async function streamOf(events: readonly object[], response: Json = { status: 'completed' }) {
  const pieces = events.map((event) => Buffer.from(`event: x\ndata: ${JSON.stringify(event)}\n\n`));
  const upstream = {
    next: async () => pieces.shift(),
    metered: () => ({ usage, answerChars: 1 }),
    stop: () => undefined,
    response: () => response,
  };
  const reckoning = { promptTokens: 1, tokensOf: () => usage };
  const writer = new MessageWriter(reading, reckoning);
  const stream = new WrittenStream(new ResponseReader(upstream), writer);
  let text = '';
  for (let piece = await stream.next(); piece !== undefined; piece = await stream.next()) {
    text += Buffer.from(piece).toString();
  }
  const lines = text.split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => JSON.parse(line.slice(6)) as Json);
}

const said = (text: string) => ({ type: 'message', content: [{ type: 'output_text', text }] });
const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' };
const deltasOf = (events: readonly Json[]) => events.flatMap(({ delta }) => (delta ? [delta] : []));

describe('a translated Messages request in the words of Responses', () => {
  it('a Messages request translated to Responses has the dialect’s images, files and formats', () => {
    const source = (type: string) => ({ type: 'base64', media_type: type, data: 'aGk=' });
    const schema = { type: 'object', properties: {}, required: [], additionalProperties: false };
    const request = requestOf({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See.' },
            { type: 'image', source: source('image/png') },
            { type: 'document', title: 'T', source: source('application/pdf') },
          ],
        },
      ],
      output_config: { format: { type: 'json_schema', schema } },
      temperature: 1,
      top_p: 0.5,
    });
    expect(translateToResponses(translateToChat(request), 'vendor')).toEqual({
      model: 'vendor',
      max_output_tokens: 100,
      store: false,
      stream: false,
      temperature: 1,
      top_p: 0.5,
      text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } },
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'See.' },
            { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' },
            { type: 'input_file', filename: 'T', file_data: 'data:application/pdf;base64,aGk=' },
          ],
        },
      ],
    });
  });

  it('a Messages request translated to Responses keeps its tool choice and drops its thoughts', () => {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 's' };
    const request = requestOf({
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [thought, { type: 'text', text: 'ho' }] },
      ],
      stream: true,
    });
    expect(translateToResponses(translateToChat(request), 'vendor')).toMatchObject({
      tool_choice: 'required',
      parallel_tool_calls: false,
      stream: true,
      input: [{ content: 'hi' }, { type: 'message', role: 'assistant', content: 'ho' }],
    });
  });

  it('a Messages request is not translated to Responses with stop sequences or a cap below the vendor’s minimum', () => {
    expect(fitsResponses(requestOf({ max_tokens: 16, stop_sequences: [] }))).toBe(true);
    expect(fitsResponses(requestOf({ max_tokens: 15 }))).toBe(false);
    expect(fitsResponses(requestOf({ stop_sequences: ['END'] }))).toBe(false);
  });
});

describe('a response that is read as a message', () => {
  it('a response translated to a message has its thoughts, texts, refusals and tool calls', async () => {
    const summary = [{ type: 'summary_text', text: 'Hm.' }];
    const refused = { type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] };
    const output = [{ type: 'reasoning', summary }, said('One.'), said('Two.'), refused, call];
    expect(await wholeOf({ id: 'resp_1', model: 'm', status: 'completed', output })).toMatchObject({
      id: 'msg_1',
      model: 'm',
      stop_reason: 'tool_use',
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'One.\n\nTwo.' },
        { type: 'text', text: 'No.' },
        { type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } },
      ],
    });
  });

  it.each<[string, object]>([
    ['end_turn', { status: 'completed' }],
    ['max_tokens', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }],
    ['refusal', { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }],
  ])(
    'a response translated to a message ends with %s, whole and streamed',
    async (reason, ending) => {
      const response = { output: [said('x')], ...ending };
      expect((await wholeOf(response))?.stop_reason).toBe(reason);
      const [last] = (await streamOf([], response)).slice(-1);
      expect(last).toMatchObject({ type: 'message_delta', delta: { stop_reason: reason } });
    },
  );

  it.each([undefined, 0])(
    'a response translated to a Messages stream keeps tool calls apart whose items all have the index %s',
    async (output_index) => {
      const added = (call_id: string) => ({
        type: 'response.output_item.added',
        output_index,
        item: { ...call, call_id, arguments: '' },
      });
      const argument = (delta: string) => ({
        type: 'response.function_call_arguments.delta',
        output_index,
        delta,
      });
      const events = await streamOf([
        added('a'),
        argument('{"x":1}'),
        added('b'),
        argument('{"y":2}'),
        { type: 'response.output_item.done', output_index, item: { ...call, call_id: 'c' } },
      ]);
      const blocks = events.flatMap(({ content_block: block }) => (block ? [block] : []));
      expect(blocks).toMatchObject([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
      expect(deltasOf(events).slice(0, 3)).toMatchObject([
        { partial_json: '{"x":1}' },
        { partial_json: '{"y":2}' },
        { partial_json: '{"a":1}' },
      ]);
    },
  );

  it('a response translated to a Messages stream has a blank line between two messages', async () => {
    const at = (output_index: number, more: object) => ({ output_index, ...more });
    const added = (index: number, item: object) =>
      at(index, { type: 'response.output_item.added', item });
    const events = await streamOf([
      { type: 'response.created', response: { id: 'resp_1', model: 'm' } },
      { type: 'response.reasoning_summary_text.delta', delta: 'Hm.' },
      added(1, { type: 'message' }),
      { type: 'response.output_text.delta', delta: 'One.' },
      added(2, { type: 'message' }),
      { type: 'response.refusal.delta', delta: 'No.' },
      added(3, { ...call, arguments: '' }),
      at(3, { type: 'response.function_call_arguments.delta', delta: '{"a":' }),
      at(3, { type: 'response.function_call_arguments.delta', delta: '1}' }),
      at(3, { type: 'response.output_item.done', item: call }),
    ]);
    expect(events[0]).toMatchObject({ message: { id: 'msg_1', model: 'm' } });
    expect(deltasOf(events)).toEqual([
      { type: 'thinking_delta', thinking: 'Hm.' },
      { type: 'text_delta', text: 'One.' },
      { type: 'text_delta', text: '\n\n' },
      { type: 'text_delta', text: 'No.' },
      { type: 'input_json_delta', partial_json: '{"a":' },
      { type: 'input_json_delta', partial_json: '1}' },
      { stop_reason: 'tool_use', stop_sequence: null },
    ]);
  });

  it('a response translated to a Messages stream has tool arguments that arrive only at the call’s end', async () => {
    const events = await streamOf([
      { type: 'response.output_item.added', output_index: 0, item: { ...call, arguments: '' } },
      { type: 'response.output_item.done', output_index: 0, item: call },
    ]);
    expect(deltasOf(events)).toMatchObject([{ partial_json: '{"a":1}' }, {}]);
  });

  it('a response translated to a Messages stream breaks when the response has failed', async () => {
    const error = { code: 'server_error', message: 'Oh.' };
    await expect(streamOf([], { status: 'failed', error })).rejects.toMatchObject({
      type: 'api_error',
      told: 'Oh.',
    });
  });
});
