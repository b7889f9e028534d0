import { describe, expect, it } from 'vitest';
import { createDomainAllowlist } from '../../../../src/platform/egress/domain-allowlist.ts';

describe('a list of domains', () => {
  it('an empty domain allowlist admits every host', () => {
    const admits = createDomainAllowlist([]);
    for (const host of ['vendor.example', '8.8.8.8', '[::1]']) expect(admits(host)).toBe(true);
  });

  it('a domain allowlist admits a domain and its subdomains, in any spelling', () => {
    for (const entry of [
      'vendor.example',
      ' Vendor.Example. ',
      '*.vendor.example',
      '.vendor.example',
    ]) {
      const admits = createDomainAllowlist([entry, 'other.example']);
      for (const host of ['vendor.example', 'api.vendor.example', 'a.b.vendor.example']) {
        expect(admits(host), `${entry} ${host}`).toBe(true);
      }
      for (const host of [
        'example',
        'myvendor.example',
        'vendor.example.org',
        'vendor.other',
        '8.8.8.8',
      ]) {
        expect(admits(host), `${entry} ${host}`).toBe(false);
      }
    }
  });

  it('a domain allowlist matches a Unicode name by its punycode', () => {
    const admits = createDomainAllowlist(['bücher.example']);
    expect(admits('shop.xn--bcher-kva.example')).toBe(true);
    expect(admits('bucher.example')).toBe(false);
  });

  it('a domain allowlist admits an address itself and nothing that ends like it', () => {
    const admits = createDomainAllowlist([
      '1.1.1.1',
      '2606:4700:4700:0::1111',
      '[2001:4860:4860::8888]',
    ]);
    for (const host of ['1.1.1.1', '[2606:4700:4700::1111]', '[2001:4860:4860::8888]']) {
      expect(admits(host), host).toBe(true);
    }
    for (const host of ['1.1.1.2', '11.1.1.1', 'x.1.1.1.1.example', '[2606:4700:4700::1112]']) {
      expect(admits(host), host).toBe(false);
    }
  });

  it('a domain allowlist refuses entries that are no host', () => {
    for (const entry of [
      '',
      ' ',
      '*',
      '.',
      'a b',
      'https://vendor.example',
      'vendor.example/path',
      'vendor.example:8080',
      'user@vendor.example',
      '0x7f.1',
      '2130706433',
      '::ffff:8.8.8.8',
      'ｖendor.example',
      'a..b',
      '10.0.0.0/8',
    ]) {
      expect(() => createDomainAllowlist([entry]), entry).toThrow('not a domain or an address');
    }
  });
});
