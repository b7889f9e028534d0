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
  it('is no provider where none of the model takes keys, or no key is there', async () => {
    expect(await find(undefined, 'sk-own')).toBeUndefined();
    expect(await find(model('x/y', 'a', 'b'))).toBeUndefined();
  });

  it('is each provider that a key is stored for, in the catalogue’s order', async () => {
    const own = await find(model('x/y', 'a', 'b', 'c'), undefined, ['c', 'a']);
    expect(own?.sellers.map(({ source, ownKey }) => [source.provider, ownKey])).toEqual([
      ['a', 'acct_1 at a'],
      ['c', 'acct_1 at c'],
    ]);
    expect(own && arePaidByBuyer(own)).toBe(true);
  });

  it('is, for a key that was brought, the maker or the only one who takes keys', async () => {
    for (const providers of [['host'], ['host', 'x']]) {
      const own = await find(model('x/y', ...providers), 'sk-own', ['host', 'x']);
      const provider = providers.at(-1);
      expect(own?.sellers).toMatchObject([{ ownKey: 'sk-own', source: { provider } }]);
    }
    expect(impliedSource(model('x/y', 'a', 'b'))).toBeUndefined();
    await expect(find(model('x/y', 'a', 'b'), 'sk-own')).rejects.toMatchObject({
      status: 400,
      fields: { message: expect.stringContaining('a, b') },
    });
  });
});

it('the pool is every source, paid by this server and not by the buyer', () => {
  const pool = pooledSources(model('x/y', 'a', 'b'));
  expect(pool.sellers.map(({ source, ownKey }) => [source.provider, ownKey])).toEqual([
    ['a', undefined],
    ['b', undefined],
  ]);
  expect(arePaidByBuyer(pool)).toBe(false);
});
