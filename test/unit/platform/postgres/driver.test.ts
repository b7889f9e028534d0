import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openSql } from '../../../../src/platform/postgres/sql.ts';

it('a server that hangs up on whoever it accepts is asked again at a pace', async () => {
  let accepted = 0;
  const server = createServer((socket) => {
    accepted++;
    socket.on('error', () => {}).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sql = openSql({ kind: 'url', url: `postgres://nobody@127.0.0.1:${port}/none` }, 2);
  const asked = [sql`select 1`, sql`select 2`].map((answer) => answer.catch(() => {}));
  await sleep(1_500);
  // It tries again soon at first, and then ever more rarely.
  expect(accepted).toBeGreaterThan(3);
  expect(accepted).toBeLessThan(50);
  await sql.end({ timeout: 0 });
  server.close();
  await Promise.all(asked);
});
