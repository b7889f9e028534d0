import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { addressKind } from '../../../../src/platform/egress/address-kind.ts';
import { REFUSED_V4, REFUSED_V6 } from '../../../support/refused-urls.ts';

const isLocal = (address: string) => /^(10|127|172|192\.168)\.|^(::1|f[cd].*)$/.test(address);

describe('the kind of an address', () => {
  it('an address of any special-purpose range is local or refused, never public', () => {
    for (const address of [...REFUSED_V4, ...REFUSED_V6]) {
      const isMetadata = address === 'fd00:ec2::254' || address === 'fd20:ce::254';
      const expected = isLocal(address) && !isMetadata ? 'local' : 'refused';
      expect(addressKind(address), address).toBe(expected);
    }
  });

  it('an address is public only where another library’s table calls it unicast', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const range = ipaddr.parse(text).range();
        const kind = addressKind(text);
        if (kind === 'public') expect(range, text).toBe('unicast');
        if (kind === 'local') expect(['private', 'loopback', 'uniqueLocal'], text).toContain(range);
      }),
      { numRuns: 20_000 },
    );
  });

  it('addresses right outside each refused IPv4 range are public, and none inside', () => {
    for (const [first, last] of [
      ['10.0.0.0', '10.255.255.255'],
      ['100.64.0.0', '100.127.255.255'],
      ['127.0.0.0', '127.255.255.255'],
      ['169.254.0.0', '169.254.255.255'],
      ['172.16.0.0', '172.31.255.255'],
      ['192.0.0.0', '192.0.0.255'],
      ['192.0.2.0', '192.0.2.255'],
      ['192.168.0.0', '192.168.255.255'],
      ['198.18.0.0', '198.19.255.255'],
      ['198.51.100.0', '198.51.100.255'],
      ['203.0.113.0', '203.0.113.255'],
      ['168.63.129.16', '168.63.129.16'],
    ] as const) {
      expect(addressKind(step(first, -1)), first).toBe('public');
      expect(addressKind(first)).not.toBe('public');
      expect(addressKind(last)).not.toBe('public');
      expect(addressKind(step(last, 1)), last).toBe('public');
    }
    expect(addressKind('223.255.255.255')).toBe('public');
    expect(addressKind('224.0.0.0')).toBe('refused');
    expect(addressKind('1.0.0.0')).toBe('public');
    expect(addressKind('0.255.255.255')).toBe('refused');
  });

  it('an address that embeds another address is refused, also with a public one inside', () => {
    for (const address of [
      '::ffff:8.8.8.8',
      '::ffff:808:808',
      '::8.8.8.8',
      '64:ff9b::808:808',
      '64:ff9b:1::808:808',
      '2002:808:808::1',
      '2001:0:4136:e378:8000:63bf:f7f7:f7f7',
      '2607:f8b0::5efe:808:808',
      '2607:f8b0::200:5efe:808:808',
    ]) {
      expect(addressKind(address), address).toBe('refused');
    }
  });

  it('text that is no address in its ordinary spelling is refused', () => {
    const none = [
      '',
      ' ',
      'localhost',
      '127.1',
      '0x7f.0.0.1',
      '08.8.8.8',
      '8.8.8.8 ',
      '8.8.8.8:80',
    ];
    for (const text of [
      ...none,
      '[::1]',
      '2606:4700::1111%eth0',
      '::1%1',
      '1.2.3.4.5',
      '2130706433',
    ]) {
      expect(addressKind(text), text).toBe('refused');
    }
  });
});

function step(address: string, by: number): string {
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) + by;
  return [24, 16, 8, 0].map((bits) => Math.floor(number / 2 ** bits) % 256).join('.');
}
