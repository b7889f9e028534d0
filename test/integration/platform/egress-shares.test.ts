import { setMaxListeners } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createDestinationGuard } from '../../../src/platform/egress/destination-guard.ts';
import { createResolveHost } from '../../../src/platform/egress/resolve-host.ts';
import {
  askerNamed,
  at,
  failureOf,
  guardedClient,
  request,
  textOf,
} from '../../support/guarded.ts';
import { startNameServer } from '../../support/name-server.ts';

/** A vendor that answers what `/now` asks, and nothing else before it is told to. */
async function startSlowVendor() {
  const waiting: ServerResponse[] = [];
  const server = createServer((asked, answer) => {
    if (asked.url === '/now') answer.end('now');
    else waiting.push(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    waiting,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const BOUNDS = { total: 64, perOrigin: 64, idle: 8 };

describe('connections to a slow vendor', () => {
  it('connections to a slow vendor are left for a paying agent while nine agents without money request all of them', async () => {
    await using vendor = await startSlowVendor();
    await using client = guardedClient({ bounds: BOUNDS });
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const refused: string[] = [];
    const held = Array.from({ length: 9 * 32 }, (_, i) => {
      const asker = askerNamed(`poor ${i % 9}`, false, i % 9 < 5 ? 'one' : 'two');
      const sent = client.send(at(vendor.port, { asker }), request({ signal: stop.signal }));
      return sent.catch((error) => refused.push(error.reason));
    });
    await expect.poll(() => refused.length).toBeGreaterThan(9 * 32 - 33);
    expect(new Set(refused)).toEqual(new Set(['busy']));

    const url = `http://vendor.example:${vendor.port}/now`;
    for (let i = 0; i < 10; i++) {
      const answer = await client.send(
        at(vendor.port, { url, asker: askerNamed('rich', true) }),
        request(),
      );
      expect(await textOf(answer.body)).toBe('now');
    }
    stop.abort();
    await Promise.all(held);
  });

  it('connections to a slow vendor are returned when their responses are read whole, discarded or refused', async () => {
    await using vendor = await startSlowVendor();
    await using client = guardedClient({ bounds: { ...BOUNDS, total: 2, perOrigin: 2 } });
    const place = at(vendor.port, {
      url: `http://vendor.example:${vendor.port}/now`,
      asker: askerNamed('a'),
    });
    for (let i = 0; i < 5; i++) await textOf((await client.send(place, request())).body);
    for (let i = 0; i < 5; i++) (await client.send(place, request())).discard();
    const nowhere = {
      ...place,
      origin: 'http://vendor.example:1',
      url: 'http://vendor.example:1/',
    };
    for (let i = 0; i < 5; i++) {
      expect((await failureOf(client.send(nowhere, request()))).reason).toBe('unreachable');
    }
    const slow = { ...place, url: `http://vendor.example:${vendor.port}/` };
    const first = client.send(slow, request());
    await expect.poll(() => vendor.waiting.length).toBe(1);
    expect((await failureOf(client.send(place, request()))).reason).toBe('busy');
    vendor.waiting[0]?.end('late');
    expect(await textOf((await first).body)).toBe('late');
  });
});

describe('names whose nameserver is silent', () => {
  it('names with a silent nameserver do not block the lookups of a paying agent of another account', async () => {
    await using server = await startNameServer((type, host) =>
      host.startsWith('silent') ? undefined : type === 'A' ? ['1.1.1.1'] : [],
    );
    const guard = createDestinationGuard({
      resolve: createResolveHost({ servers: [server.address] }),
      clock: systemClock,
      allowLocalhost: false,
      domainAllowlist: [],
    });
    const silent: Promise<unknown>[] = [];
    for (let i = 0; i < 9 * 256; i++) {
      const asker = askerNamed(`poor ${i % 9}`, false, i % 9 < 5 ? 'one' : 'two');
      silent.push(guard.admit(`https://silent-${i}.example/`, asker).catch(() => 'none'));
      // The nameserver's socket buffers some hundred questions.
      if (i % 32 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    for (let i = 0; i < 10; i++) {
      const { addresses } = await guard.admit(
        `https://paid-${i}.example/`,
        askerNamed('rich', true),
      );
      expect(addresses).toEqual(['1.1.1.1']);
    }
    expect(new Set(await Promise.all(silent))).toEqual(new Set(['none']));
  });
});
