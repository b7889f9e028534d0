import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../../src/kernel/json.ts';
import type { Model } from '../../../../../src/models/catalogue/catalogue.ts';
import { boundChat } from '../../../../../src/models/chat/bound-chat.ts';
import { MODEL_LIMITS } from '../../../../../src/models/limits.ts';
import type {
  InputItem,
  ResponsesRequest,
} from '../../../../../src/models/responses/responses-request.ts';
import { translateRequest } from '../../../../../src/models/responses/translate/translate-request.ts';

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });

type Said =
  | { readonly by: 'user' | 'system' | 'assistant'; readonly text: string }
  | { readonly call: string; readonly args: string }
  | { readonly result: string; readonly text: string };

let calls = 0;
/** One turn: what is asked, then what the assistant says, calls and is told. */
const turns = fc
  .record({
    asked: fc.array(fc.record({ by: fc.constantFrom('user', 'system'), text: words }), {
      minLength: 1,
      maxLength: 2,
    }),
    answer: fc.option(words, { nil: undefined }),
    called: fc.array(fc.record({ args: fc.json({ maxDepth: 1 }), result: words }), {
      maxLength: 3,
    }),
  })
  .map(({ answer, asked, called }): Said[] => {
    const ids = called.map(() => `call_${++calls}`);
    return [
      ...(asked as Said[]),
      ...(answer === undefined ? [] : [{ by: 'assistant' as const, text: answer }]),
      ...called.map(({ args }, at) => ({ call: ids[at] ?? '', args })),
      ...called.map(({ result }, at) => ({ result: ids[at] ?? '', text: result })),
    ];
  });
const conversations = fc.array(turns, { minLength: 1, maxLength: 4 }).map((list) => list.flat());

/** The same as items, spelled in one of the ways that the dialect has for it. */
function itemOf(said: Said, at: number): InputItem {
  if ('call' in said) {
    const { args, call } = said;
    return { type: 'function_call', call_id: call, name: 'f', arguments: args };
  }
  if ('result' in said) {
    const { result, text } = said;
    const output = at % 2 === 0 ? text : [{ type: 'input_text', text }];
    return { type: 'function_call_output', call_id: result, output };
  }
  const { by, text } = said;
  const role = by === 'system' && at % 2 === 0 ? 'developer' : by;
  const type = by === 'assistant' ? 'output_text' : 'input_text';
  return at % 3 === 0
    ? { role, content: text }
    : { type: 'message', role, content: [{ type, text }] };
}

/** What a chat says, read back. */
function saidBy(messages: readonly Json[]): Said[] {
  return messages.flatMap(({ content, role, tool_call_id, tool_calls }): Said[] => {
    if (role === 'tool') return [{ result: String(tool_call_id), text: String(content) }];
    const by = role as 'user' | 'system' | 'assistant';
    const text = content === null ? [] : [{ by, text: String(content) }];
    const called = ((tool_calls ?? []) as { id: string; function: { arguments: string } }[]).map(
      ({ function: { arguments: args }, id }) => ({ call: id, args }),
    );
    return [...text, ...called];
  });
}

const MODEL: Model = {
  id: 'm',
  modality: 'text',
  contextWindow: null,
  maxOutputTokens: null,
  sources: [],
};
const request = (more: object = {}) => ({ model: 'm', ...more }) as ResponsesRequest;

describe('a request in chat', () => {
  it('a Responses request translated to chat keeps all its items in order', () => {
    fc.assert(
      fc.property(conversations, (conversation) => {
        const { chat, misfit } = translateRequest(request(), conversation.map(itemOf));
        expect(misfit).toBeUndefined();
        expect(saidBy(chat.messages)).toEqual(conversation);
      }),
      { numRuns: 300 },
    );
  });

  it('a Responses request translated to chat has the calls of one turn in the message before their results', () => {
    const { chat } = translateRequest(request({ instructions: 'Be kind.' }), [
      { role: 'user', content: 'Rome?' },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}', namespace: 'crm' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call_output', call_id: 'a', output: '1' },
      { type: 'function_call_output', call_id: 'b', output: '2' },
    ]);
    expect(chat.messages).toMatchObject([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Rome?' },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [{ id: 'a' }, { id: 'b', function: { name: 'crm__f' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'tool', tool_call_id: 'b', content: '2' },
    ]);
  });

  it('a Responses request translated to chat moves images of tool outputs into a user message after the turn’s outputs', () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AA==' };
    const call = (call_id: string) => ({
      type: 'function_call',
      call_id,
      name: 'f',
      arguments: '',
    });
    const { chat, misfit } = translateRequest(request(), [
      call('a'),
      call('b'),
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [{ type: 'input_text', text: 'It is' }, image],
      },
      { type: 'reasoning', summary: [] },
      { type: 'custom_tool_call_output', call_id: 'b', output: [image] },
      { role: 'user', content: 'So?' },
    ]);
    expect(misfit).toBeUndefined();
    const shown = { type: 'image_url', image_url: { url: image.image_url } };
    expect(chat.messages.slice(1)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'It is' },
      { role: 'tool', tool_call_id: 'b', content: '' },
      { role: 'user', content: [shown, shown] },
      { role: 'user', content: 'So?' },
    ]);
  });

  it('a Responses request translated to chat has images, audio and files as chat parts', () => {
    const content = [
      { type: 'input_text', text: 'What is it?' },
      { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
    ];
    const { chat, misfit } = translateRequest(request(), [{ role: 'user', content }]);
    expect(misfit).toBeUndefined();
    expect(chat.messages[0]?.content).toEqual([
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } },
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
    ]);
  });

  it('a Responses request translated to chat has its tools, tool choice, format and limits under chat’s names', () => {
    const parameters = { type: 'object', properties: {} };
    const { chat, names } = translateRequest(
      request({
        tools: [
          { type: 'function', name: 'f', description: 'd', parameters, strict: true },
          { type: 'namespace', name: 'crm', tools: [{ type: 'function', name: 'g', parameters }] },
        ],
        tool_choice: {
          type: 'allowed_tools',
          mode: 'auto',
          tools: [{ type: 'function', name: 'f' }],
        },
        parallel_tool_calls: false,
        text: {
          format: { type: 'json_schema', name: 's', schema: {}, strict: true },
          verbosity: 'low',
        },
        reasoning: { effort: 'low', summary: 'auto' },
        max_output_tokens: 20,
        temperature: 0.5,
        top_p: 0.9,
        top_logprobs: 2,
        include: ['reasoning.encrypted_content'],
        metadata: { a: 'b' },
        stream: true,
      }),
      [{ role: 'user', content: 'x' }],
    );
    expect(chat).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'x' }],
      tools: [
        { type: 'function', function: { name: 'f', description: 'd', parameters, strict: true } },
        { type: 'function', function: { name: 'crm__g', parameters } },
      ],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
      parallel_tool_calls: false,
      verbosity: 'low',
      reasoning_effort: 'low',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 's', schema: {}, strict: true },
      },
      max_tokens: 20,
      temperature: 0.5,
      top_p: 0.9,
      logprobs: true,
      top_logprobs: 2,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(names).toEqual(
      new Map([
        ['f', { kind: 'function', name: 'f' }],
        ['crm__g', { kind: 'function', name: 'g', namespace: 'crm' }],
      ]),
    );
  });

  it.each<[object, readonly InputItem[], string]>([
    [{ tools: [{ type: 'web_search' }] }, [], 'tools[0]'],
    [{ tools: [{ type: 'custom' }] }, [], 'tools[0]'],
    [{ tools: [{ type: 'tool_search' }] }, [], 'tools[0]'],
    [{ tools: [{ type: 'tool_search', execution: 'server' }] }, [], 'tools[0]'],
    [
      {
        tools: [
          { type: 'custom', name: 'f' },
          { type: 'function', name: 'f' },
        ],
      },
      [],
      'tools[1]',
    ],
    [{}, [{ type: 'custom_tool_call', call_id: 'c', name: 'f' }], 'input[0]'],
    [{}, [{ type: 'tool_search_call', call_id: 'c', arguments: {} }], 'input[0]'],
    [{}, [{ type: 'tool_search_output', call_id: 'c', tools: [] }], 'input[0]'],
    [{}, [{ type: 'additional_tools', tools: [1] }], 'input[0]'],
    [{}, [{ type: 'additional_tools', tools: [{ type: 'mcp' }] }], 'input[0].tools[0]'],
    [
      { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'mcp' }] }] },
      [],
      'tools[0].tools[0]',
    ],
    [{ tools: [{ type: 'function', name: 'f' }], tool_choice: { type: 'mcp' } }, [], 'tool_choice'],
    [{ prompt: { id: 'p' } }, [], 'prompt'],
    [{ truncation: 'auto' }, [], 'truncation'],
    [{ moderation: { model: 'omni' } }, [], 'moderation'],
    [{ reasoning: { mode: 'pro' } }, [], 'reasoning.mode'],
    [{ later_promise: false }, [], 'later_promise'],
    [{ ['x'.repeat(1_000)]: 1 }, [], 'x'.repeat(64)],
    [{ context_management: [{ type: 'compaction' }] }, [], 'context_management'],
    [{ text: { format: { type: 'grammar' } } }, [], 'text.format'],
    [{}, [{ type: 'web_search_call', id: 'ws_1' }], 'input[0]'],
    [{}, [{ role: 'critic', content: 'x' }], 'input[0].role'],
    [
      {},
      [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }],
      'input[0].content[0]',
    ],
    [
      {},
      [{ role: 'user', content: [{ type: 'input_file', file_url: 'u' }] }],
      'input[0].content[0]',
    ],
    [{}, [{ role: 'user', content: [1] }], 'input[0].content[0]'],
    [{}, [{ role: 'user', content: 1 }], 'input[0].content'],
    [{}, [{ type: 'function_call', name: 'f' }], 'input[0]'],
    [{}, [{ type: 'function_call_output', call_id: 'none', output: 'x' }], 'input[0].call_id'],
  ])(
    'a Responses request that chat cannot express is noted with its place: %j %j',
    (more, items, param) => {
      const { chat, misfit, weighed } = translateRequest(request(more), items);
      expect(misfit).toMatchObject({ param, detail: expect.stringContaining(param) });
      // Whatever it is, its length is part of what the request is priced by.
      for (const item of items) {
        const type = item.type ?? 'message';
        if (type !== 'message') continue;
        expect(JSON.stringify(weighed.messages).length).toBeGreaterThan(10);
      }
      expect(chat.model).toBe('m');
    },
  );

  it('the token bound of a translated Responses request counts every image, even one that chat cannot express', () => {
    const image = { type: 'input_image', image_url: 'https://x.example/a.png' };
    const output = Array.from({ length: 3 }, () => image);
    for (const item of [
      { type: 'custom_tool_call_output', call_id: 'c', output },
      { type: 'function_call_output', output },
      { role: 'critic', content: output },
    ]) {
      const { misfit, weighed } = translateRequest(request(), [item]);
      expect(misfit).toBeDefined();
      const { tokens } = boundChat(weighed, MODEL);
      expect(tokens.inputTokens).toBeGreaterThan(3 * MODEL_LIMITS.tokens.perImage);
      expect(tokens.inputTokens).toBeLessThan(3 * MODEL_LIMITS.tokens.perImage + 200);
    }
    const called = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' };
    const shown = { role: 'assistant', content: output };
    const { weighed } = translateRequest(request(), [called, shown]);
    expect(boundChat(weighed, MODEL).tokens.inputTokens).toBeGreaterThan(
      3 * MODEL_LIMITS.tokens.perImage,
    );
  });

  it('the token bound of a translated Responses request counts tools as given, or as translated when longer', () => {
    const heldFor = (tools: readonly object[]) => {
      const { chat, weighed } = translateRequest(request({ tools }), [
        { role: 'user', content: '' },
      ]);
      expect(JSON.stringify(chat.tools)).not.toContain('xxx');
      return boundChat(weighed, MODEL).tokens.inputTokens;
    };
    const within = { type: 'function', name: 'g', parameters: {} };
    const words = 'x'.repeat(5_000);
    const namespace = { type: 'namespace', name: 'crm', tools: [within] };
    expect(heldFor([{ ...namespace, description: words }])).toBeGreaterThan(5_000);
    expect(heldFor([{ ...namespace, tools: [{ ...within, more: words }] }])).toBeGreaterThan(5_000);
    expect(heldFor([{ ...within, more: words }])).toBeGreaterThan(5_000);
    const tools = Array.from({ length: 100 }, (_, at) => ({ ...within, name: `g${at}` }));
    const name = 'n'.repeat(50);
    expect(heldFor([{ ...namespace, name, tools }])).toBeGreaterThan(100 * 50);
  });

  it('the token bound of a translated Responses request counts the reasoning in its messages once', () => {
    const text = 'x'.repeat(500);
    const { chat, weighed } = translateRequest(request(), [
      { role: 'user', content: 'Rome?' },
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text }] },
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
    ]);
    expect(chat.messages.at(-1)).toMatchObject({ role: 'assistant', reasoning_content: text });
    expect(JSON.stringify(weighed.messages).split(text)).toHaveLength(2);
  });

  it('a Responses request translated to chat leaves out reasoning from before the last user message', () => {
    const { chat } = translateRequest(request(), [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { role: 'user', content: 'Rome?' },
      { role: 'assistant', content: 'Warm.' },
    ]);
    expect(chat.messages).toEqual([
      { role: 'user', content: 'Rome?' },
      { role: 'assistant', content: 'Warm.' },
    ]);
  });

  it('the token bound of a translated Responses request counts encrypted reasoning that chat leaves out', () => {
    const thought = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [],
      encrypted_content: 'x'.repeat(500),
    };
    const { chat, weighed } = translateRequest(request(), [
      thought,
      { role: 'user', content: 'x' },
    ]);
    expect(chat.messages).toEqual([{ role: 'user', content: 'x' }]);
    expect(JSON.stringify(weighed.messages)).toContain('x'.repeat(500));
  });
});
