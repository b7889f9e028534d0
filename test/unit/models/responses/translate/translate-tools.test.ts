import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../../src/kernel/json.ts';
import type { ResponsesRequest } from '../../../../../src/models/responses/responses-request.ts';
import { translateRequest } from '../../../../../src/models/responses/translate/translate-request.ts';

const request = (more: object = {}) => ({ model: 'm', ...more }) as ResponsesRequest;

describe('the tools of a request in chat', () => {
  it('a custom tool translated to chat is a function of one text, with its grammar in the description', () => {
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' };
    const patch = { type: 'custom', name: 'patch', description: 'Edits files.', format };
    const { chat, misfit, names, weighed } = translateRequest(
      request({
        tools: [
          patch,
          { type: 'namespace', name: 'dev', tools: [{ type: 'custom', name: 'run' }] },
        ],
        tool_choice: { type: 'custom', name: 'patch' },
      }),
      [
        { role: 'user', content: 'x' },
        { type: 'custom_tool_call', call_id: 'c', name: 'patch', input: 'a "b"\n' },
        { type: 'custom_tool_call_output', call_id: 'c', output: 'done' },
        { type: 'custom_tool_call', call_id: 'd', namespace: 'dev', name: 'run', input: '' },
        { type: 'custom_tool_call_output', call_id: 'd', output: '' },
      ],
    );
    expect(misfit).toBeUndefined();
    const [first, second] = chat.tools as { function: Json }[];
    expect(first).toMatchObject({
      type: 'function',
      function: {
        name: 'patch',
        description: expect.stringMatching(/^Edits files\.[\s\S]*lark grammar:\nstart: "a"$/),
        parameters: { properties: { input: { type: 'string' } }, required: ['input'] },
      },
    });
    expect(first?.function).not.toHaveProperty('format');
    expect(second?.function.name).toBe('dev__run');
    expect(chat.tool_choice).toEqual({ type: 'function', function: { name: 'patch' } });
    expect(names.get('dev__run')).toEqual({ kind: 'custom', name: 'run', namespace: 'dev' });
    expect(chat.messages).toMatchObject([
      { role: 'user' },
      {
        tool_calls: [
          { id: 'c', function: { name: 'patch', arguments: '{"input":"a \\"b\\"\\n"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c', content: 'done' },
      { tool_calls: [{ id: 'd', function: { name: 'dev__run', arguments: '{"input":""}' } }] },
      { role: 'tool', tool_call_id: 'd', content: '' },
    ]);
    expect(JSON.stringify(weighed.tools).length).toBeGreaterThanOrEqual(
      JSON.stringify(chat.tools).length,
    );
  });

  it('chat tools from input items follow the request’s tools, without duplicates', () => {
    const f = { type: 'function', name: 'f', parameters: {} };
    const crm = { type: 'namespace', name: 'crm', tools: [f] };
    const search = { type: 'tool_search', execution: 'client', description: 'Finds.' };
    const found = (call_id: string) => [
      { type: 'tool_search_call', call_id, execution: 'client', arguments: { query: call_id } },
      { type: 'tool_search_output', call_id, execution: 'client', tools: [crm, f] },
    ];
    const { chat, misfit, names, weighed } = translateRequest(request({ tools: [f] }), [
      { type: 'additional_tools', role: 'developer', tools: [search, f] },
      { role: 'user', content: 'x' },
      ...found('c'),
      ...found('d'),
    ]);
    expect(misfit).toBeUndefined();
    const listed = (chat.tools as { function: Json }[]).map((tool) => tool.function);
    expect(listed).toMatchObject([
      { name: 'f' },
      { name: 'tool_search', description: 'Finds.' },
      { name: 'crm__f' },
    ]);
    expect(names.get('tool_search')?.kind).toBe('search');
    expect(chat.messages).toMatchObject([
      { role: 'user', content: 'x' },
      { tool_calls: [{ id: 'c', function: { name: 'tool_search', arguments: '{"query":"c"}' } }] },
      { role: 'tool', tool_call_id: 'c', content: '{"found":["crm__f","f"]}' },
      { tool_calls: [{ id: 'd' }] },
      { role: 'tool', tool_call_id: 'd' },
    ]);
    // An upstream of the dialect counts what every item brings.
    expect(JSON.stringify(weighed.tools).match(/"crm"/g)).toHaveLength(2);
  });

  it.each([
    [{ type: 'function', name: 'g' }, 'crm__g'],
    [{ type: 'function', name: 'g', namespace: 'crm' }, 'crm__g'],
    [{ type: 'function', name: 'f' }, 'f'],
    [{ type: 'function', name: 'f', namespace: 'crm' }, 'crm__f'],
    [{ type: 'function', name: 'h' }, 'h'],
  ])('a Responses tool choice names a function as chat names it: %j', (choice, name) => {
    const namespaceOf = (of: string, names: readonly string[]) => ({
      type: 'namespace',
      name: of,
      tools: names.map((each) => ({ type: 'function', name: each })),
    });
    const tools = [
      { type: 'function', name: 'f' },
      namespaceOf('crm', ['f', 'g', 'h']),
      namespaceOf('erp', ['h']),
    ];
    const chosen = (tool_choice: object) =>
      translateRequest(request({ tools, tool_choice }), [{ role: 'user', content: 'x' }]).chat
        .tool_choice;
    const named = { type: 'function', function: { name } };
    expect(chosen(choice)).toEqual(named);
    expect(chosen({ type: 'allowed_tools', mode: 'required', tools: [choice] })).toEqual({
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [named] },
    });
  });
});
