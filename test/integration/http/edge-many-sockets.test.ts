import { expect, it } from 'vitest';
import { socketRoute } from '../../../src/http/route/socket-route.ts';
import { loadUws } from '../../../src/http/server/uws.ts';
import { UpgradeGate } from '../../../src/http/websocket/upgrade-gate.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { bearer, KEYS, startEdge } from '../../support/edge.ts';
import { TestSocket } from '../../support/web-socket-client.ts';

const closedCodes: number[] = [];

const idle = socketRoute()({
  path: '/v1/idle',
  credential: 'agent',
  summary: 'test',
  authenticateFrom: ['bearer'],
  protocols: [],
  open: () => ({ opened() {}, message() {}, closed() {} }),
});

/** Fills much fresh native memory in the middle of its upgrade, with the byte that tells the library to close. */
const greedy = socketRoute()({
  path: '/v1/greedy',
  credential: 'agent',
  summary: 'test',
  authenticateFrom: ['bearer'],
  protocols: [],
  async open() {
    // An upgrade that comes late is the one that the library may close.
    await new Promise((resolve) => setImmediate(resolve));
    const taken: Buffer[] = [];
    return {
      opened() {
        for (let size = 1; size < 300; size++) taken.push(Buffer.allocUnsafeSlow(size).fill(0x10));
      },
      message() {},
      closed(code) {
        closedCodes.push(code);
      },
    };
  },
});

it('a socket whose handler allocates as it opens stays open until its client closes it', async () => {
  const wide = await startEdge({
    sockets: [greedy],
    rateLimits: { gatewayPerMinute: 10_000 },
    socketCaps: { perAgent: 100, perAddress: 100 },
  });
  try {
    closedCodes.length = 0;
    for (let i = 0; i < 40; i++) {
      const batch = Array.from(
        { length: 25 },
        () => new TestSocket(`ws://127.0.0.1:${wide.port}/v1/greedy`, [], bearer(KEYS.agent)),
      );
      await Promise.all(batch.map((socket) => socket.opened()));
      for (const { ws } of batch) ws.close(1000);
      expect(await Promise.all(batch.map(({ closed }) => closed))).toEqual(
        batch.map(() => ({ code: 1000, reason: '' })),
      );
    }
    await expect.poll(() => wide.server.openSockets).toBe(0);
    expect(new Set(closedCodes)).toEqual(new Set([1000]));
  } finally {
    await wide[Symbol.asyncDispose]();
  }
}, 30_000);

it('the server stays alive with 2,000 idle sockets', async () => {
  const wide = await startEdge({
    sockets: [idle],
    rateLimits: { gatewayPerMinute: 10_000 },
    socketCaps: { perAgent: 2_000, perAddress: 2_000 },
  });
  try {
    const sockets: TestSocket[] = [];
    for (let i = 0; i < 20; i++) {
      const batch = Array.from(
        { length: 100 },
        () => new TestSocket(`ws://127.0.0.1:${wide.port}/v1/idle`, [], bearer(KEYS.agent)),
      );
      await Promise.all(batch.map((socket) => socket.opened()));
      sockets.push(...batch);
    }
    expect(wide.server.openSockets).toBe(2_000);
    expect((await fetch(`${wide.url}/nothing`)).status).toBe(404);
    for (const socket of sockets) socket.ws.terminate();
    await expect.poll(() => wide.server.openSockets, { timeout: 10_000 }).toBe(0);
  } finally {
    await wide[Symbol.asyncDispose]();
  }
}, 30_000);

it('the upgrade gate runs upgrades before, during and after its idle response is open', async () => {
  const gate = new UpgradeGate(loadUws(), systemRandom);
  let passed = 0;
  gate.pass(() => (passed += 1));
  await gate.open();
  gate.pass(() => (passed += 1));
  gate.close();
  gate.pass(() => (passed += 1));
  gate.close();
  expect(passed).toBe(3);
});
