import { describe, expect, it } from 'vitest';
import { priceRaw } from '../../../../src/kernel/price.ts';
import { anyModelOf } from '../../../../src/models/catalogue/any-model.ts';
import { buildCatalogue } from '../../../../src/models/catalogue/build-catalogue.ts';
import type { ModelEntry } from '../../../../src/models/catalogue/builtin/builtin-model.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';

const at = { baseUrl: 'http://127.0.0.1:1/v1', dialect: 'openai', apiKeyEnv: 'KEY' } as const;
const source = (provider: string) =>
  ({ rail: 'self-host', provider, upstreamModel: 'hosted-8b', rates: {} }) as const;
const MODELS: ModelEntry[] = [
  { id: 'llama/8b', modality: 'text', sources: [source('groq')] },
  { id: 'llama/70b', modality: 'text', sources: [source('groq'), source('together')] },
];

const open = (modality: 'text' | 'embedding' = 'text') =>
  anyModelOf(
    buildCatalogue({
      providers: new Map(['openai', 'anthropic', 'groq', 'together'].map((id) => [id, at])),
      models: MODELS,
      secret: () => undefined,
    }),
    modality,
  );

describe('any model that a key opens', () => {
  it.each([
    ['openai/gpt-9', 'openai', 'gpt-9'],
    ['gpt-9', 'openai', 'gpt-9'],
    ['o7-mini', 'openai', 'o7-mini'],
    ['claude-next', 'anthropic', 'claude-next'],
    ['anthropic/claude-next', 'anthropic', 'claude-next'],
    ['together/meta-llama/Llama-9', 'together', 'meta-llama/Llama-9'],
    ['llama/8b', 'groq', 'hosted-8b'],
  ])(
    'the uncatalogued model %s is found at %s under the upstream’s own name',
    (id, provider, upstreamModel) => {
      const model = open().findKeyed(id);
      expect(model?.sources).toMatchObject([{ rail: 'byok', provider, upstreamModel }]);
      const [only] = model?.sources ?? [];
      const usage = { text_input_token: 1e9, text_output_token: 1e9, request: 1 };
      expect(only && priceRaw(usage, only.rates, only.marginBps)).toBe(MODEL_LIMITS.byokFeeRaw);
    },
  );

  it.each([
    'nobody/x',
    'openai/',
    '',
    '/',
    'llama/70b',
    'llama/none',
    'openai/gpt\n',
    'gpt 9',
    'gpt-é',
  ])(
    'no provider is guessed for the model name %j, so that no key reaches the wrong provider',
    (id) => {
      expect(open().findKeyed(id)).toBeUndefined();
    },
  );

  it('the models of a provider key are hidden from callers without the key and have only the requested modality', () => {
    const catalogue = open('embedding');
    expect([catalogue.find('llama/8b'), catalogue.suggest('8b'), catalogue.models]).toEqual([
      undefined,
      [],
      [],
    ]);
    expect(catalogue.findKeyed('openai/v')?.modality).toBe('embedding');
    expect(catalogue.findKeyed('llama/8b')).toBeUndefined();
  });
});
