import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BlockedDestination,
  Unreachable,
} from '../../../../src/platform/egress/blocked-destination.ts';
import {
  createDestinationGuard,
  type DestinationGuardDeps,
} from '../../../../src/platform/egress/destination-guard.ts';
import { OPERATOR } from '../../../../src/platform/egress/fair-shares.ts';
import { EGRESS_LIMITS } from '../../../../src/platform/egress/limits.ts';
import { ODD_SPELLINGS, PLAIN } from '../../../support/address-spellings.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { MISSPELLED } from '../../../support/misspelled-urls.ts';
import { PUBLIC_URLS } from '../../../support/public-urls.ts';
import {
  REFUSED_URLS,
  REFUSED_V4,
  REFUSED_V6,
  SCRIPTED_NAMES,
} from '../../../support/refused-urls.ts';

const PUBLIC = '93.184.216.34';

/** A guard whose names resolve as scripted, all others to a public address, and the names that it asked for. */
function scriptedGuard(options: Partial<DestinationGuardDeps> = {}) {
  const asked: string[] = [];
  const guard = createDestinationGuard({
    resolve: async (host) => {
      asked.push(host);
      return SCRIPTED_NAMES[host] ?? [PUBLIC];
    },
    clock: new ManualClock(),
    allowLocalhost: false,
    domainAllowlist: [],
    ...options,
  });
  return { guard, asked };
}

const refusalOf = (admitted: Promise<unknown>): Promise<unknown> =>
  admitted.then(
    (destination) => destination,
    (error: unknown) => error,
  );

describe('the corpus of URLs that are not called', () => {
  let sockets = 0;
  const count = () => {
    sockets++;
  };
  beforeAll(() => subscribe('net.client.socket', count));
  afterAll(() => {
    unsubscribe('net.client.socket', count);
  });

  it('the corpus of refused URLs has at least 500 entries and no duplicates', () => {
    const urls = new Set(REFUSED_URLS.map(({ url }) => url));
    expect(urls.size).toBe(REFUSED_URLS.length);
    expect(urls.size).toBeGreaterThanOrEqual(500);
  });

  for (const { family, url } of REFUSED_URLS) {
    it(`the destination guard refuses ${JSON.stringify(url).slice(0, 90)} (${family})`, async () => {
      const { guard, asked } = scriptedGuard();
      const before = sockets;
      expect(await refusalOf(guard.admit(url))).toBeInstanceOf(BlockedDestination);
      expect(asked.length).toBeLessThanOrEqual(1);
      if (family !== 'resolved') expect(asked).toEqual([]);
      expect(sockets).toBe(before);
    });
  }

  it('a misspelled URL is refused even where local targets are allowed', async () => {
    const { guard, asked } = scriptedGuard({ allowLocalhost: true });
    for (const { url } of MISSPELLED) {
      expect(await refusalOf(guard.admit(url)), url).toBeInstanceOf(BlockedDestination);
    }
    expect(asked).toEqual([]);
  });

  it('the reason for a refused URL never shows a resolved address', async () => {
    const { guard } = scriptedGuard();
    for (const { url } of REFUSED_URLS) {
      const { reason } = (await refusalOf(guard.admit(url))) as BlockedDestination;
      expect(reason).toMatch(/^(the|only|port) [a-zA-Z0-9 ,]+$/);
      for (const address of [...REFUSED_V4, ...REFUSED_V6, PUBLIC]) {
        if (address.length > 3) expect(reason).not.toContain(address);
      }
    }
  });
});

describe('public URLs', () => {
  for (const [url, host, normal] of PUBLIC_URLS) {
    it(`the destination guard admits ${url} as ${host}`, async () => {
      const { guard, asked } = scriptedGuard();
      const destination = await guard.admit(url);
      const isAddress = host.startsWith('[') || /^[\d.]+$/.test(host);
      expect(destination).toEqual({
        asker: OPERATOR,
        url: normal ?? url,
        origin: new URL(normal ?? url).origin,
        host,
        addresses: [isAddress ? host.replace(/[[\]]/g, '') : PUBLIC],
      });
      expect(asked).toEqual(isAddress ? [] : [host]);
    });
  }

  it('a public URL is admitted with every resolved address, in order', async () => {
    const found = ['1.1.1.1', '2606:4700::1111', '8.8.8.8'];
    const { guard } = scriptedGuard({ resolve: async () => found });
    expect((await guard.admit('https://vendor.example')).addresses).toEqual(found);
  });
});

describe('any IPv4 address of a refused range', () => {
  const block = fc.constantFrom<readonly [number, number]>(
    [0x0a000000, 8],
    [0x7f000000, 8],
    [0xac100000, 12],
    [0xc0a80000, 16],
    [0xa9fe0000, 16],
    [0x64400000, 10],
    [0xe0000000, 3],
    [0x00000000, 8],
    [0xc6120000, 15],
  );
  const address = fc.tuple(block, fc.nat({ max: 0xffffffff })).map(([[base, bits], any]) => {
    const value = base + (any % 2 ** (32 - bits));
    return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255] as const;
  });
  const spelling = fc.constantFrom(PLAIN, ...Object.values(ODD_SPELLINGS));

  it('an IPv4 address of a refused range is refused in any spelling and as a DNS answer', async () => {
    await fc.assert(
      fc.asyncProperty(
        address,
        spelling,
        fc.constantFrom('http', 'https'),
        async (bytes, spell, scheme) => {
          const { guard, asked } = scriptedGuard({ resolve: async () => [PLAIN(bytes), PUBLIC] });
          const literal = await refusalOf(guard.admit(`${scheme}://${spell(bytes)}/`));
          expect(literal).toBeInstanceOf(BlockedDestination);
          expect(asked).toEqual([]);
          const named = await refusalOf(guard.admit(`${scheme}://vendor.example/`));
          expect(named).toBeInstanceOf(BlockedDestination);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('a name that changes', () => {
  it('a host name is resolved once, and the address that was checked is the one that is called', async () => {
    const answers = [[PUBLIC], ['127.0.0.1']];
    let lookups = 0;
    const { guard } = scriptedGuard({ resolve: async () => answers[lookups++] ?? [] });
    expect((await guard.admit('https://rebind.example/')).addresses).toEqual([PUBLIC]);
    expect(lookups).toBe(1);
    // A later call is a new question with a new answer.
    expect(await refusalOf(guard.admit('https://rebind.example/'))).toBeInstanceOf(
      BlockedDestination,
    );
    expect(lookups).toBe(2);
  });

  it('changing the resolver’s list afterwards does not change an admitted destination', async () => {
    const found = [PUBLIC];
    const { guard } = scriptedGuard({ resolve: async () => found });
    const destination = await guard.admit('https://rebind.example/');
    found[0] = '127.0.0.1';
    expect(destination.addresses).toEqual([PUBLIC]);
  });
});

describe('a name that does not resolve', () => {
  it('a host name that does not resolve is unreachable, not blocked', async () => {
    for (const resolve of [
      async () => [],
      async () => {
        throw Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });
      },
      () => {
        throw new Error('at once');
      },
    ]) {
      const { guard } = scriptedGuard({ resolve });
      expect(await refusalOf(guard.admit('https://gone.example/'))).toBeInstanceOf(Unreachable);
    }
  });

  it('a DNS lookup is given up after `dnsTotalMs`', async () => {
    const clock = new ManualClock();
    const { guard } = scriptedGuard({ clock, resolve: () => new Promise(() => {}) });
    const refused = refusalOf(guard.admit('https://slow.example/'));
    clock.advance(EGRESS_LIMITS.dns.totalMs);
    expect(await refused).toBeInstanceOf(Unreachable);
  });
});

describe('where local targets are allowed', () => {
  const local = [
    ['http://127.0.0.1:3000/', '127.0.0.1'],
    ['http://10.1.2.3/', '10.1.2.3'],
    ['http://172.20.0.2:8080/', '172.20.0.2'],
    ['http://192.168.0.10/', '192.168.0.10'],
    ['http://[::1]:3000/', '::1'],
    ['http://[fd12:3456::1]/', 'fd12:3456::1'],
    ['http://vendor:3000/', '10.0.0.7'],
    ['http://vendor.local/', '10.0.0.7'],
    ['http://vendor.internal/', '10.0.0.7'],
  ] as const;

  it('the guard with local targets allowed admits private and loopback addresses and local names', async () => {
    const { guard } = scriptedGuard({ allowLocalhost: true, resolve: async () => ['10.0.0.7'] });
    for (const [url, address] of local) {
      expect((await guard.admit(url)).addresses, url).toEqual([address]);
    }
  });

  it('the guard with local targets allowed resolves localhost and its subdomains without DNS', async () => {
    const { guard, asked } = scriptedGuard({ allowLocalhost: true });
    for (const host of ['localhost', 'LOCALHOST.', 'app.localhost']) {
      const { addresses } = await guard.admit(`http://${host}:3000/`);
      expect(addresses).toEqual(['127.0.0.1', '::1']);
    }
    expect(asked).toEqual([]);
  });

  it('the guard with local targets allowed refuses link-local, metadata, shared, multicast and reserved addresses', async () => {
    const still =
      `0.0.0.0 100.64.0.1 100.100.100.200 168.63.129.16 169.254.169.254 192.0.2.1 198.18.0.1 224.0.0.1
      240.0.0.1 255.255.255.255 :: fe80::1 fec0::1 ff02::1 fd00:ec2::254 2001:db8::1 64:ff9b::a00:1`.split(
        /\s+/,
      );
    for (const address of still) {
      const host = address.includes(':') ? `[${address}]` : address;
      const { guard } = scriptedGuard({ allowLocalhost: true, resolve: async () => [address] });
      for (const url of [`http://${host}/`, 'http://vendor/']) {
        expect(await refusalOf(guard.admit(url)), address).toBeInstanceOf(BlockedDestination);
      }
    }
    const { guard, asked } = scriptedGuard({ allowLocalhost: true });
    for (const name of ['metadata', 'metadata.google.internal', 'instance-data.ec2.internal']) {
      const refused = await refusalOf(guard.admit(`http://${name}/`));
      expect(refused, name).toBeInstanceOf(BlockedDestination);
    }
    expect(asked).toEqual([]);
  });
});

describe('an allowlist', () => {
  const domainAllowlist = ['Vendor.example', '1.1.1.1'];

  it('the guard with an allowlist admits its domains alone and resolves no others', async () => {
    const { guard, asked } = scriptedGuard({ domainAllowlist });
    for (const url of [
      'https://vendor.example/',
      'https://api.vendor.example/',
      'http://1.1.1.1/',
    ]) {
      expect(await refusalOf(guard.admit(url)), url).toHaveProperty('url', url);
    }
    asked.length = 0;
    for (const host of ['other.example', 'notvendor.example', 'vendor.example.org', '8.8.8.8']) {
      const refused = await refusalOf(guard.admit(`https://${host}/`));
      expect(refused, host).toBeInstanceOf(BlockedDestination);
    }
    expect(asked).toEqual([]);
  });

  it('the guard with an allowlist still refuses addresses that are not public', async () => {
    const { guard } = scriptedGuard({
      domainAllowlist: ['10.0.0.1', 'localhost', 'vendor.example', '[::1]'],
      resolve: async () => ['10.0.0.1'],
    });
    for (const host of ['10.0.0.1', 'localhost', 'vendor.example', '[::1]']) {
      const refused = await refusalOf(guard.admit(`https://${host}/`));
      expect(refused, host).toBeInstanceOf(BlockedDestination);
    }
  });
});
