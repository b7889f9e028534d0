import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isProviderKey,
  maskedPrefix,
  providerKeyRecord,
  sealedPlace,
} from '../../../../src/accounts/provider-keys/provider-key.ts';

describe('a provider key', () => {
  it('a provider key is 1 to 512 printable ASCII characters', () => {
    for (const good of ['k', 'sk-proj_A.b/c+d=', 'two words', '~'.repeat(512)]) {
      expect(isProviderKey(good), good).toBe(true);
    }
    for (const bad of ['', 'k'.repeat(513), 'a\nb', 'a\0', 'tab\t', 'schlüssel', '\x7f', '🔑']) {
      expect(isProviderKey(bad), bad).toBe(false);
    }
  });

  it('a provider key shows its first four characters, and never more than a quarter of itself', () => {
    expect(maskedPrefix('sk-proj-0123456789')).toBe('sk-p...');
    expect(maskedPrefix('sk-proj')).toBe('s...');
    expect(maskedPrefix('abc')).toBe('...');
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 512 }), (key) => {
        const start = maskedPrefix(key).slice(0, -3);
        expect(key.startsWith(start)).toBe(true);
        expect(start.length).toBeLessThanOrEqual(Math.min(4, key.length / 4));
      }),
    );
  });

  it('the sealing context of a provider key differs for every pair of account and provider', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (a, b, c, d) => {
        const one = sealedPlace({ accountId: a, provider: b });
        const other = sealedPlace({ accountId: c, provider: d });
        expect(one === other).toBe(a === c && b === d);
      }),
    );
    expect(sealedPlace({ accountId: 'a', provider: '","b' })).not.toBe(
      sealedPlace({ accountId: 'a","', provider: 'b' }),
    );
  });

  it('a provider key has exactly the published members on the wire', () => {
    const at = new Date(Date.UTC(2026, 0, 1));
    const stored = { id: 7, provider: 'openai', prefix: 'sk-p...', label: null, enabled: true };
    const record = providerKeyRecord({
      ...stored,
      createdBy: '0xdev',
      lastUsedAt: null,
      createdAt: at,
      updatedAt: at,
    });
    expect(record).toEqual({
      provider: 'openai',
      keyPrefix: 'sk-p...',
      label: null,
      enabled: true,
      createdBy: '0xdev',
      lastUsedAt: null,
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:00:00.000Z',
    });
  });
});
