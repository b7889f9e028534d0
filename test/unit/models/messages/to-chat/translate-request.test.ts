import { describe, expect, it } from 'vitest';
import { MessagesRequest } from '../../../../../src/models/messages/messages-request.ts';
import { translateToChat } from '../../../../../src/models/messages/to-chat/translate-request.ts';

const chatOf = (content: unknown, more: object = {}, role = 'user') =>
  translateToChat(
    MessagesRequest.parse({ model: 'a/b', max_tokens: 10, messages: [{ role, content }], ...more }),
  );
const tool = { name: 'f', input_schema: { type: 'object' } };
const reference = { type: 'tool_reference', name: 'f' };

describe('a Messages request in the words of the OpenAI dialect', () => {
  it('a Messages request translated to chat has plain texts, and parts only when there are several', () => {
    expect(chatOf('hi').messages).toEqual([{ role: 'user', content: 'hi' }]);
    expect(chatOf([{ type: 'text', text: 'hi' }]).messages).toEqual([
      { role: 'user', content: 'hi' },
    ]);
    const url = 'https://x.example/a.png';
    const image = { type: 'image', source: { type: 'url', url } };
    expect(chatOf([{ type: 'text', text: 'a' }, image]).messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ]);
    expect(chatOf('be kind', {}, 'system').messages).toEqual([
      { role: 'system', content: 'be kind' },
    ]);
  });

  it('a Messages request translated to chat has documents as text below their title, and a PDF as a file', () => {
    const document = (source: object) => ({ type: 'document', title: 'T', context: 'C', source });
    const texts = (block: object) => chatOf([block]).messages[0]?.content;
    expect(texts(document({ type: 'text', media_type: 'text/plain', data: 'abc' }))).toEqual([
      { type: 'text', text: 'T\nC' },
      { type: 'text', text: 'abc' },
    ]);
    expect(texts(document({ type: 'content', content: 'abc' }))).toEqual([
      { type: 'text', text: 'T\nC' },
      { type: 'text', text: 'abc' },
    ]);
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'aGk=' };
    expect(texts(document(pdf))).toEqual([
      { type: 'file', file: { filename: 'T', file_data: 'data:application/pdf;base64,aGk=' } },
    ]);
    const found = {
      type: 'search_result',
      title: 'T',
      source: 'S',
      content: [{ type: 'text', text: 'abc' }],
    };
    expect(texts(found)).toEqual([
      { type: 'text', text: 'T\nS' },
      { type: 'text', text: 'abc' },
    ]);
  });

  it('a Messages request translated to chat marks a failed tool result without content as an error', () => {
    const result = { type: 'tool_result', tool_use_id: 't', is_error: true };
    expect(chatOf([result]).messages).toEqual([
      { role: 'tool', tool_call_id: 't', content: 'error' },
    ]);
    expect(chatOf([{ ...result, content: 'no such file' }]).messages).toEqual([
      { role: 'tool', tool_call_id: 't', content: 'no such file' },
    ]);
  });

  it('a Messages request translated to chat has its tool choice, and one call at a time, in chat’s members', () => {
    const choice = (tool_choice: object) => chatOf('x', { tools: [tool], tool_choice });
    expect(choice({ type: 'auto' }).tool_choice).toBe('auto');
    expect(choice({ type: 'none' }).tool_choice).toBe('none');
    expect(choice({ type: 'any' }).tool_choice).toBe('required');
    expect(choice({ type: 'tool', name: 'f' }).tool_choice).toEqual({
      type: 'function',
      function: { name: 'f' },
    });
    expect(choice({ type: 'auto', disable_parallel_tool_use: true })).toMatchObject({
      parallel_tool_calls: false,
    });
    expect(chatOf('x', { tools: [{ ...tool, strict: true, type: 'custom' }] }).tools).toEqual([
      {
        type: 'function',
        function: { name: 'f', parameters: { type: 'object', properties: {} }, strict: false },
      },
    ]);
    expect(chatOf('x', { tools: [], tool_choice: { type: 'auto' } })).not.toHaveProperty('tools');
  });

  it('a Messages request translated to chat leaves out hints such as metadata and thinking', () => {
    const more = {
      thinking: { type: 'adaptive' },
      metadata: { user_id: 'u' },
      cache_control: {},
      context_management: { edits: [] },
      service_tier: 'auto',
      speed: 'standard',
      output_config: { effort: 'low' },
      mcp_servers: [],
      temperature: 0.5,
      top_p: 0.9,
    };
    expect(chatOf('x', more)).toEqual({
      model: 'a/b',
      max_tokens: 10,
      temperature: 0.5,
      top_p: 0.9,
      messages: [{ role: 'user', content: 'x' }],
    });
  });

  it.each<[string, unknown, object?, string?]>([
    ['messages.0.content.0', [7]],
    ['messages.0.content.0.text', [{ type: 'text' }]],
    ['messages.0.content.0.source', [{ type: 'image', source: { type: 'file', file_id: 'f' } }]],
    ['messages.0.content.0.source', [{ type: 'document', source: { type: 'url', url: 'x' } }]],
    ['messages.0.content.0.type', [{ type: 'container_upload', file_id: 'f' }]],
    ['messages.0.content.0.tool_use_id', [{ type: 'tool_result' }]],
    ['messages.0.content.0.type', [{ type: 'server_tool_use' }], {}, 'assistant'],
    ['messages.0.content.0.id', [{ type: 'tool_use' }], {}, 'assistant'],
    ['messages.0.content.0.name', [{ type: 'tool_use', id: 'i' }], {}, 'assistant'],
    ['system.0.type', 'x', { system: [{ type: 'image' }] }],
    ['tools.0', 'x', { tools: ['f'] }],
    ['tools.0.type', 'x', { tools: [{ type: 'web_search_20250305', name: 'w' }] }],
    ['tools.0.name', 'x', { tools: [{ input_schema: {} }] }],
    ['messages.0.content.0.tool', [{ type: 'tool_removal', tool: reference }], {}, 'system'],
    ['messages.0.content.0.type', [{ type: 'tool_changes' }], {}, 'system'],
    ['tools.0.input_schema', 'x', { tools: [{ name: 'f' }] }],
    ['tool_choice', 'x', { tool_choice: { type: 'any' } }],
    ['tool_choice.name', 'x', { tools: [tool], tool_choice: { type: 'tool' } }],
    ['tool_choice.type', 'x', { tools: [tool], tool_choice: { type: 'some' } }],
    ['top_k', 'x', { top_k: 1 }],
    ['mcp_servers', 'x', { mcp_servers: [{}] }],
    ['container', 'x', { container: 'c' }],
    ['thread', 'x', { thread: {} }],
    ['fallbacks', 'x', { fallbacks: [{}] }],
    ['compaction', 'x', { compaction: {} }],
    ['speed', 'x', { speed: 'fast' }],
    ['output_config.format', 'x', { output_config: { format: { type: 'regex' } } }],
  ])(
    'a Messages request that chat cannot express is refused with the param %s',
    (param, content, more = {}, role = 'user') => {
      expect(() => chatOf(content, more, role)).toThrow(
        expect.objectContaining({ name: 'UnfitRequest', param }),
      );
    },
  );
});
