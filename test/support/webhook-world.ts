import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { insertEvents } from '../../src/ledger/store/agent-funds.ts';
import { createDestinationGuard } from '../../src/platform/egress/destination-guard.ts';
import { createGuardedClient } from '../../src/platform/egress/guarded-client.ts';
import { noMetrics } from '../../src/platform/tracing/metrics.ts';
import { EventDelivery } from '../../src/webhooks/delivery/deliver-events.ts';
import { ensurePositions } from '../../src/webhooks/delivery/dispatch-store.ts';
import { createOpenSecrets } from '../../src/webhooks/delivery/open-secrets.ts';
import { createSendDelivery } from '../../src/webhooks/delivery/send-delivery.ts';
import { createWebhooks } from '../../src/webhooks/delivery/webhooks.ts';
import { WEBHOOK_LIMITS } from '../../src/webhooks/limits.ts';
import { testDatabase } from './database.ts';

const SEALING_SECRET = 's'.repeat(32);

/** Webhooks on a database of their own, with real sockets, and time that a test can move on while nothing is under way. */
export async function webhookWorld({ attemptMs = 10_000, processes = 1 } = {}) {
  const database = await testDatabase(8);
  const { sql } = database;
  await ensurePositions(sql);
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  const clock: Clock = { ...systemClock, monotonicMs: () => performance.now() + aheadMs };
  const hosts = new Map<string, () => readonly string[]>();
  const resolve = async (host: string) => hosts.get(host)?.() ?? ['127.0.0.1'];
  const guard = createDestinationGuard({
    resolve,
    clock,
    allowLocalhost: true,
    domainAllowlist: [],
    needsTls: true,
  });
  const bounds = { perOrigin: 2 * processes * WEBHOOK_LIMITS.queue.inFlight };
  const client = createGuardedClient({ guard, clock, bounds });
  const send = createSendDelivery({ client, clock, attemptMs });
  const openSecrets = createOpenSecrets(SEALING_SECRET);
  const deps = { sql, clock, now, send, openSecrets, log: silentLog, metrics: noMetrics };
  const deliverers = Array.from({ length: processes }, () => new EventDelivery(deps));
  const webhooks = createWebhooks({
    sql,
    guard,
    random: systemRandom,
    sealingSecret: SEALING_SECRET,
  });
  const idle = async () => {
    for (const deliverer of deliverers) await deliverer.idle();
  };
  return {
    sql,
    webhooks,
    hosts,
    deliverers,
    idle,
    send,
    now,
    /** An account, made where it is not there yet. */
    async account(accountId: string) {
      await sql`insert into developers (account_id, wallet) values (${accountId}, ${accountId})
        on conflict do nothing`;
      return accountId;
    },
    happened: (accountId: string, count = 1, name = 'agent.created') =>
      insertEvents(
        sql,
        Array.from({ length: count }, (_, n) => ({
          name,
          accountId,
          agentWallet: `0x${'a'.repeat(40)}`,
          correlationId: null,
          payload: { agentId: n },
        })),
      ),
    async tick() {
      await Promise.all(deliverers.map((deliverer) => deliverer.tick()));
      await idle();
    },
    /** Time passes for retries and for what is remembered of names. */
    pass(ms: number) {
      aheadMs += ms;
    },
    async [Symbol.asyncDispose]() {
      for (const deliverer of deliverers) await deliverer[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
