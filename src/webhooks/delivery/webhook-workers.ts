import type { Worker } from '../../kernel/schedule.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Metrics } from '../../platform/tracing/metrics.ts';
import { WEBHOOK_LIMITS } from '../limits.ts';
import type { EventDelivery } from './deliver-events.ts';
import { pruneOld } from './dispatch-store.ts';
import { failStranded, readBacklog } from './queue-store.ts';
import { stepRecovery } from './recovery-store.ts';

const STEP_MS = 1_000;
const SWEEP_MS = 5_000;
const PRUNE_MS = 60_000;
/** Most steps in one run of a worker. The next run goes on from there. */
const STEPS = 20;

/** Creates the background workers of webhooks. Every process runs them, and each task is claimed by one process. */
export function createWebhookWorkers(deps: {
  readonly sql: Sql;
  readonly now: () => number;
  readonly metrics: Metrics;
  readonly delivery: EventDelivery;
}): Worker[] {
  const { delivery, metrics, now, sql } = deps;
  const due = metrics.gauge('svc_webhook_due', 'Webhook deliveries that are due.');
  const oldest = metrics.gauge(
    'svc_webhook_oldest_due_seconds',
    'Age of the webhook delivery that has been due for longest.',
  );
  const repeat = async (step: () => Promise<boolean>) => {
    for (let n = 0; n < STEPS && (await step()); n++);
  };
  return [
    { name: 'deliver-webhooks', everyMs: WEBHOOK_LIMITS.queue.pollMs, tick: () => delivery.tick() },
    {
      name: 'recover-webhooks',
      everyMs: STEP_MS,
      tick: () => repeat(() => stepRecovery(sql, now())),
    },
    {
      name: 'sweep-webhooks',
      everyMs: SWEEP_MS,
      async tick() {
        await repeat(async () => (await failStranded(sql)) === WEBHOOK_LIMITS.kept.sweptPerStep);
        const backlog = await readBacklog(sql, now());
        due.set(backlog.due);
        oldest.set(backlog.oldestMs / 1_000);
      },
    },
    { name: 'prune-webhooks', everyMs: PRUNE_MS, tick: () => repeat(() => pruneOld(sql)) },
  ];
}
