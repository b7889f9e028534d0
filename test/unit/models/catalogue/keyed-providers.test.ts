import { describe, expect, it } from 'vitest';
import { buildCatalogue } from '../../../../src/models/catalogue/build-catalogue.ts';
import type { ProviderEntry } from '../../../../src/models/catalogue/builtin/builtin-model.ts';
import { BUILTIN_PROVIDERS } from '../../../../src/models/catalogue/builtin/providers.ts';

const keyed = (providers: Readonly<Record<string, ProviderEntry>>, secret?: string) =>
  buildCatalogue({
    providers: new Map(Object.entries(providers)),
    models: [],
    secret: () => secret,
  }).keyedProviders;

describe('the providers that a caller can have a key of his own at', () => {
  it('the providers for callers’ own keys are those with an address and a key variable, sorted by name', () => {
    const there = { baseUrl: 'https://a.example/v1', dialect: 'openai' } as const;
    const providers = {
      zeta: { ...there, apiKeyEnv: 'ZETA_KEY' },
      keyless: there,
      acme: { ...there, apiKeyEnv: 'ACME_KEY' },
      nowhere: { baseUrl: null, dialect: 'local', apiKeyEnv: 'NO_KEY' },
    } as const;
    expect(keyed(providers)).toEqual(['acme', 'zeta']);
  });

  it('the providers for callers’ own keys do not depend on the operator’s keys', () => {
    const without = keyed(BUILTIN_PROVIDERS);
    expect(without).toEqual(expect.arrayContaining(['anthropic', 'deepgram', 'openai']));
    expect(without).not.toContain('local');
    expect(keyed(BUILTIN_PROVIDERS, 'sk-operator')).toEqual(without);
  });
});
