import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../src/kernel/json.ts';
import { CountRequest } from '../../../../src/models/messages/messages-request.ts';
import { requirePricedMessages } from '../../../../src/models/messages/require-priced.ts';

const hi = { role: 'user', content: 'x' };
const requireContent = (content: unknown) =>
  requirePricedMessages(CountRequest.parse({ model: 'm', messages: [{ role: 'user', content }] }));
const content = (...blocks: readonly Json[]) => ({
  type: 'document',
  source: { type: 'content', content: blocks },
});

describe('what is kept in the account that pays', () => {
  const file = { type: 'image', source: { type: 'file', file_id: 'file_1' } };
  const page = { type: 'document', source: { type: 'url', url: 'https://x.example' } };
  const result = (...blocks: readonly Json[]) => ({ type: 'tool_result', content: blocks });

  it.each([
    [file],
    [page],
    [{ type: 'container_upload', file_id: 'file_1' }],
    [{ type: 'web_fetch_tool_result', content: { type: 'web_fetch_result', content: file } }],
    [{ type: 'bash_code_execution_tool_result', content: { content: [{ file_id: 'file_1' }] } }],
    [result(file)],
    [content(file)],
    [content({ type: 'text', text: 'x' }, page)],
    [result(content(file))],
    [content(content(result(file)))],
  ])(
    'a Messages request that refers to a file in the operator’s account is refused: %j',
    (block) => {
      expect(() => requireContent([block])).toThrow(expect.objectContaining({ status: 400 }));
    },
  );

  it('a Messages request is accepted with content that stands in the request itself', () => {
    const seen = { type: 'image', source: { type: 'url', url: 'https://x.example' } };
    requireContent('x');
    requireContent([content({ type: 'text', text: 'x' }, seen), result(seen)]);
    requireContent([{ type: 'document', source: { type: 'content', content: 'x' } }]);
  });
});

describe('tools that a conversation brings', () => {
  const own = [
    { name: 'weather', input_schema: { type: 'object' } },
    { type: 'custom', name: 'weather', input_schema: { type: 'object' } },
    { type: 'computer_toolset_20260801' },
  ];
  const ofVendor = [
    { type: 'web_search_20260318', name: 'web_search' },
    { type: 'advisor_20260301', name: 'advisor', model: 'dear' },
    { type: 'mcp_toolset', mcp_server_name: 'x' },
    { type: 7 },
  ];
  const defined = (definition: unknown) => ({ type: 'tool_definition', definition });
  const places: readonly [string, (tool: unknown) => Json][] = [
    ['an addition', (tool) => ({ type: 'tool_addition', tool: defined(tool) })],
    [
      'a summary',
      (tool) => ({
        type: 'compaction',
        content: 'x',
        tool_changes: [{ type: 'tool_addition', tool: defined(tool) }],
      }),
    ],
  ];

  it.each(places)(
    'a tool defined in %s is refused when it would be refused in the request’s tools',
    (_, place) => {
      for (const tool of own) {
        requirePricedMessages(CountRequest.parse({ model: 'm', messages: [hi], tools: [tool] }));
        requireContent([place(tool)]);
      }
      for (const tool of [...ofVendor, undefined, null, 'x']) {
        expect(() => requireContent([place(tool)])).toThrow(
          expect.objectContaining({ status: 400 }),
        );
      }
    },
  );

  it('a Messages conversation may add and remove tools by name, except those of an MCP server', () => {
    const named = { type: 'tool_reference', name: 'weather' };
    requireContent([
      { type: 'tool_removal', tool: named },
      { type: 'tool_addition', tool: named },
    ]);
    for (const tool of [{ type: 'mcp_toolset_reference', server_name: 'x' }, { type: 'new' }, 7]) {
      expect(() => requireContent([{ type: 'tool_addition', tool }])).toThrow('invalid_request');
    }
  });

  it('tools in unknown members and blocks of a Messages request are refused', () => {
    const messages = [{ ...hi, tools: ofVendor }];
    expect(() => requirePricedMessages(CountRequest.parse({ model: 'm', messages }))).toThrow(
      expect.objectContaining({ fields: expect.objectContaining({ param: 'messages.0.tools' }) }),
    );
    expect(() => requireContent([{ type: 'tools', tools: ofVendor }])).toThrow('invalid_request');
  });
});
