import { describe, expect, it } from 'vitest';
import { buildCatalogue } from '../../../../src/models/catalogue/build-catalogue.ts';
import type {
  ProviderEntry,
  SourceEntry,
} from '../../../../src/models/catalogue/builtin/builtin-model.ts';
import type { Modality, Rail } from '../../../../src/models/catalogue/catalogue.ts';
import { createEmbeddingRails } from '../../../../src/models/embeddings/embedding-rails.ts';
import type { EmbeddingRail } from '../../../../src/models/providers/embedding-rail.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const local: EmbeddingRail = {
  misfit: () => undefined,
  embed: async () => ({ kind: 'aborted' }),
};
const source = (provider: string, rail: Rail = 'direct-account'): SourceEntry => ({
  rail,
  provider,
  upstreamModel: 'v',
  rates: { request: '1' },
});

describe('the rails of embeddings', () => {
  it('each openai provider and the local engine has one embedding rail', async () => {
    const provider = { baseUrl: 'http://127.0.0.1:1/v1', dialect: 'openai' } as const;
    const model = (modality: Modality, ...sources: SourceEntry[]) => ({
      id: `acme/${modality}`,
      modality,
      sources,
    });
    const catalogue = buildCatalogue({
      providers: new Map<string, ProviderEntry>([
        ['up', provider],
        ['other', { ...provider, dialect: 'anthropic' }],
        ['local', { baseUrl: null, dialect: 'local' }],
      ]),
      models: [model('embedding', source('up'), source('other'), source('local'))],
      secret: () => undefined,
    });
    await using rails = createEmbeddingRails({ catalogue, local, clock: new ManualClock() });
    const railOf = (provider: string, rail?: Rail) =>
      rails.railOf({ ...source(provider, rail), rates: {}, marginBps: 0 });
    expect(railOf('local')).toBe(local);
    expect(railOf('up')).toBeDefined();
    expect(railOf('up')).toBe(railOf('up', 'aggregator'));
    expect([railOf('other'), railOf('nobody')]).toEqual([undefined, undefined]);
    expect(railOf('up')).toBe(railOf('up', 'byok'));
    expect(railOf('up', 'x402-router')).toBeUndefined();
  });
});
