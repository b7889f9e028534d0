import { fork } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { systemClock } from '../src/kernel/clock.ts';
import { silentLog } from '../src/kernel/log.ts';
import { systemRandom } from '../src/kernel/random.ts';
import { createDestinationGuard } from '../src/platform/egress/destination-guard.ts';
import { createGuardedClient } from '../src/platform/egress/guarded-client.ts';
import { openDatabase } from '../src/platform/postgres/database.ts';
import type { Sql } from '../src/platform/postgres/sql.ts';
import { noMetrics } from '../src/platform/tracing/metrics.ts';
import { EventDelivery } from '../src/webhooks/delivery/deliver-events.ts';
import { createOpenSecrets } from '../src/webhooks/delivery/open-secrets.ts';
import { claimDue } from '../src/webhooks/delivery/queue-store.ts';
import { createSendDelivery } from '../src/webhooks/delivery/send-delivery.ts';
import { createWebhooks } from '../src/webhooks/delivery/webhooks.ts';
import { WEBHOOK_LIMITS } from '../src/webhooks/limits.ts';
import { nextMessage } from '../test/support/next-message.ts';
import { type BenchRow, benchRow } from './bench-row.ts';

const DELIVERIES = 20_000;
const ENDPOINTS = 20;
const QUEUED = 1_000_000;
const FLOOR_CONNECTIONS = 256;
const SECRET = 's'.repeat(32);

/**
 * What a delivery costs this process: claimed, signed in both schemes, sent and recorded, to a quick receiver in a process
 * of its own; beside it a floor of undici that sends the same bytes with one HMAC. Then claims over a million queued rows.
 */
export async function benchWebhooks(): Promise<BenchRow[]> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-webhooks-'));
  const receiver = fork(join(import.meta.dirname, 'webhook-receiver.ts'), {
    execArgv: ['--import', 'tsx'],
  });
  try {
    const url = `http://127.0.0.1:${await nextMessage<number>(receiver)}/events`;
    await using database = await openDatabase({
      database: { kind: 'directory', path: join(directory, 'db') },
      log: silentLog,
    });
    await database.migrate();
    const world = await openWorld(database.sql, url);
    await deliver(world, 2_000);
    await floor(url, 2_000);
    const bare = await floor(url, DELIVERIES);
    const ours = await deliver(world, DELIVERIES);
    const claims = await claimBehind(world);
    return [
      benchRow('W', 'deliveries a second, one process', ours.perSecond, '/s', 'bar: 1,000'),
      benchRow('W', 'CPU a delivery', ours.cpuMicros, 'µs'),
      benchRow('W', 'floor: undici and one HMAC', bare.perSecond, '/s'),
      benchRow('W', 'CPU of the floor', bare.cpuMicros, 'µs'),
      benchRow('W', 'CPU over the floor', ours.cpuMicros / bare.cpuMicros, 'x'),
      benchRow('W', 'a claim behind a million queued rows', claims.claimMs, 'ms'),
      benchRow('W', 'memory that a million queued rows take here', claims.heapMb, 'MB'),
    ];
  } finally {
    receiver.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

type World = Awaited<ReturnType<typeof openWorld>>;

async function openWorld(sql: Sql, url: string) {
  const guard = createDestinationGuard({
    clock: systemClock,
    allowLocalhost: true,
    domainAllowlist: [],
    resolve: async () => ['127.0.0.1'],
  });
  const bounds = { perOrigin: 2 * WEBHOOK_LIMITS.queue.inFlight };
  const client = createGuardedClient({ guard, clock: systemClock, bounds });
  const now = () => Date.now();
  const delivery = new EventDelivery({
    sql,
    now,
    clock: systemClock,
    log: silentLog,
    metrics: noMetrics,
    send: createSendDelivery({ client, clock: systemClock }),
    openSecrets: createOpenSecrets(SECRET),
  });
  const webhooks = createWebhooks({ sql, guard, random: systemRandom, sealingSecret: SECRET });
  const ids: number[] = [];
  for (let n = 0; n < ENDPOINTS; n++) {
    const accountId = `acct_${Math.floor(n / WEBHOOK_LIMITS.endpoint.perAccount)}`;
    await sql`insert into developers (account_id, wallet) values (${accountId}, ${accountId})
      on conflict do nothing`;
    ids.push((await webhooks.create(accountId, { url, events: ['*'] })).webhook.id);
  }
  return { sql, delivery, ids };
}

type Measured = { readonly perSecond: number; readonly cpuMicros: number };

async function measured(count: number, work: () => Promise<void>): Promise<Measured> {
  const beganMs = performance.now();
  const cpu = process.cpuUsage();
  await work();
  const { system, user } = process.cpuUsage(cpu);
  const tookMs = performance.now() - beganMs;
  return { perSecond: (count * 1_000) / tookMs, cpuMicros: (system + user) / count };
}

/** Queues deliveries over all endpoints and sends them. */
async function deliver({ delivery, ids, sql }: World, count: number): Promise<Measured> {
  await sql`insert into webhook_deliveries (delivery_id, webhook_id, account_id, event, payload, due_at)
    select replace(gen_random_uuid()::text, '-', ''), (${ids}::int[])[1 + n % ${ids.length}], 'acct_0',
      'call.ended', jsonb_build_object('callId', 'call_' || n, 'reason', 'hangup', 'durationSeconds', n,
        'agentWalletAddress', '0x00000000000000000000000000000000000000aa'), now()
    from generate_series(1, ${count}) n`;
  return measured(count, async () => {
    await delivery.tick();
    await delivery.idle();
  });
}

/** The same requests by the client alone, signed once, as many under way. */
async function floor(url: string, count: number): Promise<Measured> {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: FLOOR_CONNECTIONS });
  let left = count;
  const sender = async () => {
    while (left-- > 0) {
      const body = JSON.stringify({
        event: 'call.ended',
        callId: `call_${left}`,
        reason: 'hangup',
        durationSeconds: left,
        agentWalletAddress: '0x00000000000000000000000000000000000000aa',
        firedAt: new Date().toISOString(),
      });
      const timestamp = String(Math.floor(Date.now() / 1_000));
      const signature = createHmac('sha256', SECRET).update(`${timestamp}.${body}`).digest('hex');
      const headers = {
        'content-type': 'application/json',
        'x-svc-signature': signature,
        'x-svc-timestamp': timestamp,
      };
      const answer = await pool.request({ path: pathname, method: 'POST', headers, body });
      await answer.body.dump();
    }
  };
  const result = await measured(count, async () => {
    await Promise.all(Array.from({ length: FLOOR_CONNECTIONS }, sender));
  });
  await pool.close();
  return result;
}

/** How long a claim takes, and what memory it needs, where a million rows wait. */
async function claimBehind({ ids, sql }: World) {
  await sql`insert into webhook_deliveries (delivery_id, webhook_id, account_id, event, payload, due_at)
    select md5(n::text), (${ids}::int[])[1 + n % ${ids.length}], 'acct_0', 'call.ended', '{}',
      now() + n * interval '1 microsecond'
    from generate_series(1, ${QUEUED}) n`;
  await sql`analyze webhook_deliveries`;
  const before = process.memoryUsage().heapUsed;
  const beganMs = performance.now();
  const times = 20;
  for (let n = 0; n < times; n++) {
    await claimDue(sql, {
      busy: new Map(),
      limit: WEBHOOK_LIMITS.queue.inFlight,
      nowMs: Date.now() + 10_000,
    });
  }
  const claimMs = (performance.now() - beganMs) / times;
  const heapMb = Math.max(0, process.memoryUsage().heapUsed - before) / 1_048_576;
  return { claimMs, heapMb };
}
