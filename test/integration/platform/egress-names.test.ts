import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import {
  BlockedDestination,
  Unreachable,
} from '../../../src/platform/egress/blocked-destination.ts';
import { createDestinationGuard } from '../../../src/platform/egress/destination-guard.ts';
import { createResolveHost } from '../../../src/platform/egress/resolve-host.ts';
import { type NameServer, startNameServer } from '../../support/name-server.ts';

/** Names are asked of a nameserver once, both families, and believed only as far as every address is public. */

const guardOver = (server: NameServer) =>
  createDestinationGuard({
    resolve: createResolveHost({ servers: [server.address] }),
    clock: systemClock,
    allowLocalhost: false,
    domainAllowlist: [],
  });

const V6 = '2606:4700:4700:0:0:0:0:1111';

describe('a name', () => {
  it('a hostname is looked up once per address family, and IPv4 addresses come first', async () => {
    await using server = await startNameServer((type) =>
      type === 'A' ? ['1.1.1.1', '8.8.8.8'] : [V6],
    );
    const destination = await guardOver(server).admit('https://Vendor.Example./pay');
    expect(destination.addresses).toEqual(['1.1.1.1', '8.8.8.8', '2606:4700:4700::1111']);
    expect([...server.asked].sort()).toEqual(['A vendor.example', 'AAAA vendor.example']);
  });

  it('a hostname with addresses in one family is accepted, whatever the lookup of the other family returns', async () => {
    for (const other of ['NXDOMAIN', 'SERVFAIL', []] as const) {
      await using server = await startNameServer((type) => (type === 'A' ? ['1.1.1.1'] : other));
      const { addresses } = await guardOver(server).admit('https://vendor.example/');
      expect(addresses).toEqual(['1.1.1.1']);
    }
  });

  it('a hostname is refused when one address of either family is not public', async () => {
    for (const [a, aaaa] of [
      [['1.1.1.1', '10.0.0.1'], []],
      [['1.1.1.1'], ['0:0:0:0:0:0:0:1']],
      [['1.1.1.1'], ['0:0:0:0:0:ffff:0a00:0001']],
      [[], ['0064:ff9b:0:0:0:0:7f00:0001']],
    ] as const) {
      await using server = await startNameServer((type) => (type === 'A' ? a : aaaa));
      const admitted = guardOver(server).admit('https://vendor.example/');
      await expect(admitted).rejects.toBeInstanceOf(BlockedDestination);
    }
  });

  it('a hostname that changes between two lookups is judged by the lookup that is used', async () => {
    let round = 0;
    await using server = await startNameServer((type) =>
      type === 'AAAA' ? [] : round++ === 0 ? ['1.1.1.1'] : ['127.0.0.1'],
    );
    const guard = guardOver(server);
    const { addresses } = await guard.admit('https://rebind.example/');
    expect(addresses).toEqual(['1.1.1.1']);
    expect(server.asked.filter((question) => question.startsWith('A '))).toHaveLength(1);
    await expect(guard.admit('https://rebind.example/')).rejects.toBeInstanceOf(BlockedDestination);
  });

  it('a hostname that is unknown, or whose nameserver is silent, is unreachable within a bounded time', async () => {
    for (const said of ['NXDOMAIN', 'SERVFAIL', [], undefined] as const) {
      await using server = await startNameServer(() => said);
      const began = performance.now();
      const admitted = guardOver(server).admit('https://gone.example/');
      await expect(admitted).rejects.toBeInstanceOf(Unreachable);
      expect(performance.now() - began).toBeLessThan(8_000);
    }
  });
});
