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
  });
});
