import { describe, expect, it } from 'vitest';
import {
  checkTrustedProxies,
  createClientAddress,
} from '../../../../src/http/route/client-address.ts';

describe('the client address', () => {
  it('the client address ignores X-Forwarded-For from a peer that is no trusted proxy', () => {
    const trustNobody = createClientAddress([]);
    expect(trustNobody('198.51.100.1', '203.0.113.9')).toBe('198.51.100.1');
    const trustOthers = createClientAddress(['10.0.0.0/8']);
    expect(trustOthers('198.51.100.1', '203.0.113.9')).toBe('198.51.100.1');
  });

  it('the client address is the rightmost one of no trusted proxy, so that a forged left part is ignored', () => {
    const address = createClientAddress(['10.0.0.0/8', '192.0.2.7']);
    expect(address('10.1.1.1', '1.1.1.1, 203.0.113.9')).toBe('203.0.113.9');
    expect(address('10.1.1.1', '1.1.1.1, 203.0.113.9, 192.0.2.7, 10.2.2.2')).toBe('203.0.113.9');
    expect(address('10.1.1.1', '10.9.9.9')).toBe('10.9.9.9');
    expect(address('10.1.1.1', undefined)).toBe('10.1.1.1');
  });

  it('the client address stops at the first invalid entry of X-Forwarded-For', () => {
    const address = createClientAddress(['10.0.0.0/8']);
    expect(address('10.1.1.1', '203.0.113.9, unknown')).toBe('10.1.1.1');
    expect(address('10.1.1.1', '203.0.113.9, nonsense, 10.2.2.2')).toBe('10.2.2.2');
  });

  it('the client address is read from the socket’s long spelling, IPv4 inside IPv6, ports and brackets', () => {
    const address = createClientAddress(['127.0.0.1', 'fd00::/8']);
    const mapped = '0000:0000:0000:0000:0000:ffff:7f00:0001';
    expect(address(mapped, undefined)).toBe('127.0.0.1');
    expect(address(mapped, '203.0.113.9:4711')).toBe('203.0.113.9');
    expect(address('fd00:0000:0000:0000:0000:0000:0000:0001', '[2001:db8::5]:443')).toBe(
      '2001:db8::5',
    );
  });

  it('the refusal of TRUSTED_PROXIES names the entry that is neither an address nor a range', () => {
    expect(() => checkTrustedProxies(['10.0.0.0/8', 'proxy.local'])).toThrow('proxy.local');
    expect(() => checkTrustedProxies(['10.0.0.0/8', '::1'])).not.toThrow();
  });
});
