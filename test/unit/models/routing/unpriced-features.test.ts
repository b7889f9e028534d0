import { describe, expect, it } from 'vitest';
import { requirePriced } from '../../../../src/models/routing/unpriced-features.ts';

describe('a chat that is paid from a balance', () => {
  it('is refused where it asks for what vendors bill beside its tokens', () => {
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

  it('is none where it asks for what everyone has', () => {
    const usual = { audio: null, modalities: ['text'], service_tier: 'auto', n: 2, logprobs: true };
    expect(() => requirePriced(usual)).not.toThrow();
    expect(() => requirePriced({ enable_search: false, wiki_grounding: null })).not.toThrow();
    for (const mode of [undefined, null, 'standard']) {
      expect(() => requirePriced({ reasoning: { mode, effort: 'high' } })).not.toThrow();
    }
  });

  it('has tools that its caller runs alone, in the request and in its messages', () => {
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
});
