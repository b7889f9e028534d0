import { describe, expect, it } from 'vitest';
import {
  buildCatalogue,
  type UnpricedSource,
} from '../../../../src/models/catalogue/build-catalogue.ts';
import type { SourceEntry } from '../../../../src/models/catalogue/builtin/builtin-model.ts';

const PROVIDERS = new Map(
  ['acme', 'shed', 'lobby'].map((id) => [
    id,
    { baseUrl: 'https://x.example', dialect: 'openai', apiKeyEnv: `${id}_key` } as const,
  ]),
);
const WHOLE = { text_input_token: '2', text_output_token: '8' };

const source = (provider: string, rates: SourceEntry['rates']): SourceEntry => ({
  rail: 'direct-account',
  provider,
  upstreamModel: 'm',
  rates,
});

function build(sources: readonly SourceEntry[], lacking: readonly string[] = []) {
  const unpriced: UnpricedSource[] = [];
  const catalogue = buildCatalogue({
    providers: PROVIDERS,
    models: [{ id: 'acme/fast-1', modality: 'text', sources }],
    secret: (name) => (lacking.includes(name) ? undefined : 'secret'),
    unpriced: (one) => void unpriced.push(one),
  });
  return { model: catalogue.find('acme/fast-1'), models: catalogue.models, unpriced };
}

describe('buildCatalogue', () => {
  it('the catalogue drops a source that lacks a rate for a billed unit, however cheap the source looks', () => {
    const { model, unpriced } = build([
      source('acme', WHOLE),
      source('shed', { text_input_token: '0.1' }),
      source('lobby', {}),
    ]);
    expect(model?.sources.map(({ provider }) => provider)).toEqual(['acme']);
    expect(unpriced).toEqual([
      { model: 'acme/fast-1', provider: 'shed', units: ['text_output_token'] },
      { model: 'acme/fast-1', provider: 'lobby', units: ['text_input_token', 'text_output_token'] },
    ]);
  });

  it('the catalogue does not list a model without a usable source', () => {
    expect(build([source('acme', { text_output_token: '8' })]).models).toEqual([]);
    expect(build([source('acme', WHOLE)], ['acme_key']).models).toEqual([]);
  });

  it('the catalogue reports no missing rate for a provider without credentials', () => {
    expect(build([source('acme', {})], ['acme_key']).unpriced).toEqual([]);
  });

  it('the catalogue keeps a free source without rates and a source that bills calls alone', () => {
    const free = { ...source('shed', {}), rail: 'free' } as const;
    const { model, unpriced } = build([source('acme', { request: '1' }), free]);
    expect(model?.sources.map(({ provider }) => provider)).toEqual(['shed', 'acme']);
    expect(unpriced).toEqual([]);
  });

  it('the catalogue passes on a model’s display name and whether its weights are open', () => {
    const more = { displayName: 'Fast 1', isOpenWeight: true, contextWindow: 8_192 };
    const entry = {
      id: 'a/b',
      modality: 'text',
      sources: [source('acme', WHOLE)],
      ...more,
    } as const;
    const catalogue = buildCatalogue({ providers: PROVIDERS, models: [entry], secret: () => 's' });
    expect(catalogue.find('a/b')).toMatchObject({ ...more, maxOutputTokens: null });
  });

  it('the catalogue lists a cascade model only when all its parts are available', () => {
    const cascade = { stt: 'a/hear', llm: 'a/think', tts: 'a/say' };
    const part = (id: string, rates: SourceEntry['rates'], modality: 'stt' | 'text' | 'tts') =>
      ({ id, modality, sources: [source(id === 'a/say' ? 'shed' : 'acme', rates)] }) as const;
    const models = [
      { id: 'a/talker', modality: 'realtime', sources: [], cascade } as const,
      part('a/hear', { audio_second: '1' }, 'stt'),
      part('a/think', WHOLE, 'text'),
      part('a/say', { character: '1' }, 'tts'),
    ];
    const found = (lacking?: string) =>
      buildCatalogue({
        providers: PROVIDERS,
        models,
        secret: (name) => (name === lacking ? undefined : 's'),
      }).find('a/talker');
    expect(found()).toMatchObject({ modality: 'realtime', cascade, sources: [] });
    expect(found('shed_key')).toBeUndefined();
  });
});
