import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { openSql } from '../../src/platform/postgres/sql.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { processPlace } from '../support/process-place.ts';
import { startReceiver } from '../support/receiver.ts';
import { freePort, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { testWallet } from '../support/wallet.ts';

const ROUNDS = Number(process.env.WEBHOOK_KILLS ?? (exhaustive ? 25 : 6));
const KEYS = 4;

/** A developer with an endpoint, who begins to make keys: each made key is an event. Resolves to their end. */
async function beginKeys(url: string, name: string, endpoint: string) {
  const wallet = testWallet(name);
  const api = createApi(url);
  const call = async (path: string, body: object) =>
    api.call('POST', path, { headers: await wallet.headers(Date.now()), body });
  await call('/v1/developer/webhooks', { url: endpoint, events: ['key.created'] });
  const keys = Array.from({ length: KEYS }, () =>
    call('/v1/developer/keys', { permissions: 'read' }),
  );
  return { made: Promise.allSettled(keys) };
}

test(`every created key is one webhook event, and every event arrives through ${ROUNDS} kills at any moment`, async () => {
  await using place = await processPlace();
  await using receiver = await startReceiver();
  const environment = { ...place.environment, SSRF_ALLOW_LOCALHOST: '1' };
  // On a server of its own any number of processes share the database; the embedded one has one.
  const count = place.target.kind === 'url' ? 2 : 1;
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const start = (n: number) =>
    startServerProcess({ ...environment, PORT: String(ports[n] as number) });
  const servers: ServerProcess[] = [];
  for (let n = 0; n < count; n++) servers.push(await start(n));
  const sql = openSql(place.target, 2);
  const seen = new Set<string>();
  const sentAgain: string[] = [];
  receiver.answers(({ headers }, response) => {
    const id = String(headers['webhook-id']);
    const wasSeen = seen.has(id);
    seen.add(id);
    const status = async () => {
      if (!wasSeen) return;
      const [row] = await sql`select status from webhook_deliveries where delivery_id = ${id}`;
      // Whoever sends it again may not have known that it has arrived, but not where that was written down.
      if (row?.status === 'success') sentAgain.push(id);
    };
    // While the database restarts with its server, it cannot be asked.
    status().then(
      () => response.writeHead(200).end(),
      () => response.writeHead(200).end(),
    );
  });

  for (let round = 0; round < ROUNDS; round++) {
    const at = randomInt(count);
    const { url } = servers[randomInt(count)] as ServerProcess;
    const { made } = await beginKeys(url, `round ${round}`, `${receiver.url}/${round}`);
    await pause(randomInt(120));
    await servers[at]?.kill();
    await made;
    servers[at] = await start(at);
  }

  await expect
    .poll(
      async () => {
        const [open] = await sql<{ n: number }[]>`
          select (select count(*) from events where position is null)::int
            + (select count(*) from webhook_deliveries where status <> 'success')::int as n`;
        return open?.n;
      },
      { timeout: 90_000, interval: 500 },
    )
    .toBe(0);
  const accounts = await sql<{ keys: number; events: number; due: number; sent: number }[]>`
    select (select count(*) from developer_keys k where k.account_id = d.account_id)::int as keys,
      (select count(*) from events e where e.account_id = d.account_id
        and e.name = 'key.created')::int as events,
      (select count(*) from events e join webhooks w on w.account_id = e.account_id
        where e.account_id = d.account_id and e.created_at >= w.created_at)::int as due,
      (select count(*) from webhook_deliveries x where x.account_id = d.account_id)::int as sent
    from developers d`;
  expect(accounts.reduce((sum, { keys }) => sum + keys, 0)).toBeGreaterThan(0);
  for (const { due, events, keys, sent } of accounts) {
    expect({ events, sent }).toEqual({ events: keys, sent: due });
  }
  const ids = await sql<{ id: string }[]>`select delivery_id as id from webhook_deliveries`;
  expect(ids.filter(({ id }) => !seen.has(id))).toEqual([]);
  expect(sentAgain).toEqual([]);
  await sql.end({ timeout: 1 });
  for (const server of servers) expect(await server.stop(), server.output()).toBe(0);
}, 600_000);
