import { describe, expect, it } from 'vitest';
import { byokSource, impliedSource } from '../../../../src/models/catalogue/byok-source.ts';
import type { Model } from '../../../../src/models/catalogue/catalogue.ts';
import {
  arePaidByBuyer,
  findOwnSources,
  pooledSources,
} from '../../../../src/models/routing/keyed-sources.ts';

const model = (id: string, ...providers: string[]): Model => ({
  id,
  modality: 'text',
  contextWindow: null,
  maxOutputTokens: null,
  sources: providers.map((provider) => byokSource(provider, 'm')),
});

const find = (keyed: Model | undefined, providerKey?: string, stored: string[] = []) =>
  findOwnSources(
    {
      catalogue: { findKeyed: () => keyed },
      providerKeys: {
        find: async (account, provider) =>
          stored.includes(provider) ? `${account} at ${provider}` : undefined,
      },
    },
    'x/y',
    { accountId: 'acct_1', providerKey },
  );

describe('who serves a model for the buyer’s own keys', () => {
  it('a model has no own-key source when no provider takes keys or the caller has no key', async () => {
    expect(await find(undefined, 'sk-own')).toBeUndefined();
    expect(await find(model('x/y', 'a', 'b'))).toBeUndefined();
  });

  it('a model’s own-key sources are the providers with a stored key, in the catalogue’s order', async () => {
    const own = await find(model('x/y', 'a', 'b', 'c'), undefined, ['c', 'a']);
    expect(own?.sources.map(({ source, ownKey }) => [source.provider, ownKey])).toEqual([
      ['a', 'acct_1 at a'],
      ['c', 'acct_1 at c'],
    ]);
    expect(own && arePaidByBuyer(own)).toBe(true);
  });

  it('a key sent with the request is used at the model’s maker or at the only provider that takes keys', async () => {
    for (const providers of [['host'], ['host', 'x']]) {
      const own = await find(model('x/y', ...providers), 'sk-own', ['host', 'x']);
      const provider = providers.at(-1);
      expect(own?.sources).toMatchObject([{ ownKey: 'sk-own', source: { provider } }]);
    }
    expect(impliedSource(model('x/y', 'a', 'b'))).toBeUndefined();
    await expect(find(model('x/y', 'a', 'b'), 'sk-own')).rejects.toMatchObject({
      status: 400,
      fields: { message: expect.stringContaining('a, b') },
    });
  });
});

it('the pooled sources of a model are all its sources, paid from the operator’s accounts', () => {
  const pool = pooledSources(model('x/y', 'a', 'b'));
  expect(pool.sources.map(({ source, ownKey }) => [source.provider, ownKey])).toEqual([
    ['a', undefined],
    ['b', undefined],
  ]);
  expect(arePaidByBuyer(pool)).toBe(false);
});
