import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { EGRESS_LIMITS } from '../../src/platform/egress/limits.ts';
import { startPaymentWorld, until } from '../support/payment-world.ts';
import { newDeveloper } from '../support/whole-world.ts';

/** More than the server keeps connections for, and in the bounds of each agent. */
const AGENTS = 9;
const CALLS = 228;
const ORIGINS = 12;

it('ten of ten paid calls succeed while nine agents without money hold every connection that they can get', async () => {
  let held = 0;
  const slow = createServer(() => {
    held += 1;
  });
  await new Promise<void>((resolve) => slow.listen(0, '0.0.0.0', resolve));
  const { port } = slow.address() as AddressInfo;
  await using bench = await startPaymentWorld();
  const payer = await bench.payer('paying', 1_000_000n);
  const developers = [
    await newDeveloper(bench.world.api, 'first without money'),
    await newDeveloper(bench.world.api, 'second without money'),
  ] as const;
  const leaving: AbortController[] = [];
  let refused = 0;
  const calls: Promise<unknown>[] = [];
  for (let agent = 0; agent < AGENTS; agent++) {
    const poor = developers[agent % 2 === 0 ? 0 : 1];
    const { key } = await poor.mintKey(await poor.createAgent(`poor ${agent}`));
    for (let i = 0; i < CALLS; i++) {
      const stop = new AbortController();
      leaving.push(stop);
      const answer = fetch(`${bench.world.url}/v1/proxy/fetch`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ url: `http://127.0.0.${1 + (i % ORIGINS)}:${port}/` }),
        signal: stop.signal,
      });
      calls.push(answer.then(() => refused++).catch(() => {}));
    }
  }
  await until(async () => held + refused === AGENTS * CALLS, 30_000);
  expect(held).toBeLessThan(EGRESS_LIMITS.connections.most / 2);

  const url = bench.vendor.sell({});
  for (let i = 0; i < 10; i++) expect((await payer.fetch(url)).status).toBe(200);

  for (const stop of leaving) stop.abort();
  await Promise.all(calls);
  slow.closeAllConnections();
  slow.close();
});
