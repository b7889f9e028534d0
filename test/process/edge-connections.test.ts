import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { ok, route } from '../../src/http/route/route.ts';
import { socketRoute } from '../../src/http/route/socket-route.ts';
import { bearer, KEYS, startEdge } from '../support/edge.ts';
import { processPlace } from '../support/process-place.ts';
import { startServerProcess } from '../support/server-process.ts';
import { TestSocket } from '../support/web-socket-client.ts';

const fine = route()({
  method: 'GET',
  path: '/ok',
  credential: 'none',
  summary: 'test',
  handle: () => ok({}),
});
const live = socketRoute()({
  path: '/v1/live',
  credential: 'agent',
  summary: 'test',
  authenticateFrom: ['bearer'],
  protocols: [],
  open: () => ({ opened() {}, message() {}, closed() {} }),
});

const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function openIdle(port: number, localAddress: string, count: number): Promise<Socket[]> {
  const sockets = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<Socket>((resolve) => {
          const socket = connect({ port, host: '127.0.0.1', localAddress });
          socket.on('error', () => {}).once('connect', () => resolve(socket));
        }),
    ),
  );
  for (const socket of sockets) socket.resume();
  await rest(100);
  return sockets;
}
const alive = (sockets: readonly Socket[]) => sockets.filter(({ destroyed }) => !destroyed);

it('one client address holds up to `perNetwork` connections and takes none from other addresses', async () => {
  await using edge = await startEdge({
    routes: [fine],
    connectionCaps: { most: 100, perNetwork: 20 },
  });
  const greedy = await openIdle(edge.port, '127.0.0.2', 60);
  const other = await openIdle(edge.port, '127.0.0.3', 20);
  expect([alive(greedy).length, alive(other).length]).toEqual([20, 20]);
  expect((await fetch(`${edge.url}/ok`)).status).toBe(200);

  for (const socket of greedy) socket.destroy();
  await rest(100);
  // The first one finds the count out of date, and has it taken again, which takes its time on a busy machine.
  for (let tries = 0; tries < 50; tries++) {
    const probe = await openIdle(edge.port, '127.0.0.2', 1);
    const isIn = alive(probe).length === 1;
    for (const socket of probe) socket.destroy();
    if (isIn) break;
  }
  await rest(100);
  const again = await openIdle(edge.port, '127.0.0.2', 10);
  expect(alive(again)).toHaveLength(10);
  for (const socket of [...other, ...again]) socket.destroy();
});

it('a WebSocket counts as one connection while it is open', async () => {
  await using edge = await startEdge({
    routes: [fine],
    sockets: [live],
    connectionCaps: { most: 4, perNetwork: 100 },
  });
  for (let round = 0; round < 5; round++) {
    const sockets = Array.from(
      { length: 4 },
      () => new TestSocket(`ws://127.0.0.1:${edge.port}/v1/live`, [], bearer(KEYS.agent)),
    );
    await Promise.all(sockets.map((socket) => socket.opened()));
    await expect(fetch(`${edge.url}/ok`)).rejects.toThrow();
    for (const { ws } of sockets) ws.close(1000);
    await Promise.all(sockets.map(({ closed }) => closed));
  }
  const text = await edge.metrics.render();
  expect(text).toMatch(/http_connections_refused [1-9]/);
});

/** Clock ticks that a process has spent, its own and the system's for it; a tick is 10 ms. */
async function ticksOf(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

it('a server with few file descriptors stays idle under excess connections and serves afterwards', async () => {
  await using place = await processPlace();
  await using server = await startServerProcess(place.environment, { descriptors: 800 });
  const port = Number(new URL(server.url).port);
  const pid = server.child.pid as number;
  const knocking = [
    ...(await openIdle(port, '127.0.0.2', 900)),
    ...(await openIdle(port, '127.0.0.4', 900)),
  ];
  expect(alive(knocking).length).toBeLessThanOrEqual(600);

  const before = await ticksOf(pid);
  await rest(1_500);
  // A loop that cannot take a connection and cannot turn it away spends all 150 on finding that out.
  expect((await ticksOf(pid)) - before).toBeLessThan(60);

  for (const socket of knocking) socket.destroy();
  await rest(100);
  expect((await fetch(`${server.url}/v1/health`)).status).toBe(200);
});
