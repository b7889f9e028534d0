import { describe, expect, it } from 'vitest';
import { requirePriced } from '../../../../src/models/routing/unpriced-features.ts';

describe('a chat that is paid from a balance', () => {
  it('a chat paid from the balance is refused for features that vendors bill besides tokens', () => {
    const cases: [string, object][] = [
      ['audio', { audio: { voice: 'alloy', format: 'wav' } }],
      ['modalities', { modalities: ['text', 'audio'] }],
      ['web_search_options', { web_search_options: {} }],
      ['search_parameters', { search_parameters: { mode: 'on' } }],
      ['plugins', { plugins: [{ id: 'web' }] }],
      ['enable_search', { enable_search: true }],
      ['enable_code_interpreter', { enable_code_interpreter: true }],
      ['compound_custom', { compound_custom: { tools: { enabled_tools: ['web_search'] } } }],
      ['wiki_grounding', { wiki_grounding: true }],
      ['reasoning.mode', { reasoning: { mode: 'pro' } }],
      ['service_tier', { service_tier: 'priority' }],
    ];
    for (const [param, body] of cases) {
      expect(() => requirePriced({ ...body })).toThrow(
        expect.objectContaining({ status: 400, fields: expect.objectContaining({ param }) }),
      );
    }
  });

  it('a chat paid from the balance is accepted with ordinary members and disabled features', () => {
    const usual = { audio: null, modalities: ['text'], service_tier: 'auto', n: 2, logprobs: true };
    expect(() => requirePriced(usual)).not.toThrow();
    expect(() => requirePriced({ enable_search: false, wiki_grounding: null })).not.toThrow();
    for (const mode of [undefined, null, 'standard']) {
      expect(() => requirePriced({ reasoning: { mode, effort: 'high' } })).not.toThrow();
    }
  });

  it('a chat paid from the balance may have only tools that its caller runs, also in its messages', () => {
    const own = [
      { type: 'function', function: { name: 'f' } },
      { type: 'custom', custom: { name: 'c' } },
    ];
    const ofVendor = [
      { type: 'builtin_function', function: { name: '$web_search' } },
      { type: 'web_search', web_search: { enable: true } },
      { type: 'openrouter:web_search' },
      { google_search: {} },
      'web_search',
    ];
    const said = [{ role: 'user', content: 'x' }];
    for (const tools of [own, [], null]) {
      requirePriced({ tools, messages: [...said, { role: 'system', tools }] });
    }
    const refusal = (param: string) =>
      expect.objectContaining({ status: 400, fields: expect.objectContaining({ param }) });
    for (const tool of ofVendor) {
      const tools = [...own, tool];
      expect(() => requirePriced({ messages: said, tools })).toThrow(refusal('tools[2]'));
      const messages = [...said, { role: 'system', tools }];
      expect(() => requirePriced({ messages })).toThrow(refusal('messages[1].tools[2]'));
    }
    expect(() => requirePriced({ tools: { type: 'web_search' } })).toThrow(refusal('tools[0]'));
  });

  it.each([
    [{ type: 'web_search' }, 'The built-in tool "web_search" (tools[1])'],
    [{ type: 'openrouter:web_search' }, 'The built-in tool "openrouter:web_search" (tools[1])'],
    [
      { type: 'builtin_function', function: { name: '$web_search' } },
      'The built-in tool "$web_search" (tools[1])',
    ],
    [{ google_search: {} }, 'The built-in tool "google_search" (tools[1])'],
    ['web_search', 'The built-in tool "web_search" (tools[1])'],
    [{ type: 'x'.repeat(70) }, `The built-in tool "${'x'.repeat(64)}" (tools[1])`],
    [
      { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }, { type: 'mcp' }] },
      'The built-in tool "mcp" (tools[1])',
    ],
  ])(
    'the refusal of a built-in tool names the tool, its place and the use of an own key: %j',
    (tool, named) => {
      const own = { type: 'function', function: { name: 'f' } };
      expect(() => requirePriced({ tools: [own, tool] })).toThrow(
        expect.objectContaining({
          status: 400,
          fields: expect.objectContaining({
            message: `${named} runs at the provider, which bills each call: that has no price here. Leave it out, or store your own key at a provider that serves it with PUT /v1/developer/provider-keys/{provider}.`,
            param: 'tools[1]',
          }),
        }),
      );
    },
  );

  it.each([[{ type: 7 }], [7], [{ name: 'f', input_schema: {} }]])(
    'the refusal of a tool of unknown type says that the caller cannot run it: %j',
    (tool) => {
      expect(() => requirePriced({ tools: [tool] })).toThrow(
        expect.objectContaining({
          fields: expect.objectContaining({
            message:
              'tools[0] is of no type that the caller runs, and others have no price here. Leave it out, or store your own key at a provider that serves it with PUT /v1/developer/provider-keys/{provider}.',
            param: 'tools[0]',
          }),
        }),
      );
    },
  );

  it('the refusal of an unpriced member names the member and the use of an own key', () => {
    expect(() => requirePriced({ service_tier: 'priority' })).toThrow(
      expect.objectContaining({
        fields: expect.objectContaining({
          message:
            'service_tier costs what has no price here. Leave it out, or store your own key at a provider that serves it with PUT /v1/developer/provider-keys/{provider}.',
          param: 'service_tier',
        }),
      }),
    );
  });
});
