import { describe, expect, it } from 'vitest';
import { networkOf } from '../../../src/http/route/client-address.ts';
import { AddressBuckets } from '../../../src/rate-limit/address-buckets.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const A = '203.0.113.1';
const taken = (buckets: AddressBuckets, network: string, tries: number) =>
  Array.from({ length: tries }, () => buckets.take(network)).filter((wait) => wait === 0).length;

describe('a token bucket of a client network', () => {
  it('a client network’s token bucket gives its burst at once, then refills at its rate', () => {
    const clock = new ManualClock();
    const buckets = new AddressBuckets(clock, { burst: 5, perMinute: 60 });
    expect(taken(buckets, A, 100)).toBe(5);
    expect(buckets.take(A)).toBe(1);
    clock.advance(1_000);
    expect(taken(buckets, A, 100)).toBe(1);
    clock.advance(60_000);
    expect(taken(buckets, A, 100)).toBe(5);
  });

  it('a client network’s token bucket takes back a token that is returned', () => {
    const buckets = new AddressBuckets(new ManualClock(), { burst: 1, perMinute: 1 });
    for (let i = 0; i < 10; i++) {
      expect(buckets.take(A)).toBe(0);
      buckets.giveBack(A);
    }
    expect(buckets.take(A)).toBe(0);
    expect(buckets.take(A)).toBe(60);
  });

  it('token buckets are kept for a bounded number of client networks', () => {
    const buckets = new AddressBuckets(new ManualClock(), { burst: 2, perMinute: 1 }, 10);
    for (let i = 0; i < 1_000; i++) buckets.take(`203.0.113.${i}`);
    expect(buckets.size).toBe(10);
  });
});

describe('the network of an address', () => {
  it('the network of an address is the IPv4 address or the IPv6 /64, in any spelling', () => {
    expect(networkOf(A)).toBe(A);
    expect(networkOf('unknown')).toBe('unknown');
    const one = networkOf('2001:db8:1:2::1');
    expect(one).toBe('2001:db8:1:2::/64');
    expect(networkOf('2001:0db8:0001:0002:ffff:ffff:ffff:ffff')).toBe(one);
    expect(networkOf('2001:db8:1:3::1')).not.toBe(one);
    expect(networkOf('::ffff:203.0.113.1')).toBe(A);
  });
});
