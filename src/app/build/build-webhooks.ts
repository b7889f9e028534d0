import { startWorkers } from '../../kernel/schedule.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import { createDestinationGuard } from '../../platform/egress/destination-guard.ts';
import { createGuardedClient } from '../../platform/egress/guarded-client.ts';
import { createResolveHost } from '../../platform/egress/resolve-host.ts';
import { EventDelivery } from '../../webhooks/delivery/deliver-events.ts';
import {
  createWebhookLog,
  createWebhookRecoveries,
  createWebhookTries,
} from '../../webhooks/delivery/deliveries.ts';
import { createOpenSecrets } from '../../webhooks/delivery/open-secrets.ts';
import { createSendDelivery } from '../../webhooks/delivery/send-delivery.ts';
import { createWebhookWorkers } from '../../webhooks/delivery/webhook-workers.ts';
import { createWebhooks } from '../../webhooks/delivery/webhooks.ts';
import { WEBHOOK_LIMITS } from '../../webhooks/limits.ts';
import type { LedgerParts } from './build-ledger.ts';
import type { World } from './world.ts';

/**
 * Builds the webhooks of developers and their delivery. Without a sealing secret developers have no webhooks, and events wait.
 */
export function buildWebhooks(
  world: World,
  { time }: Pick<LedgerParts, 'time'>,
  teardown: Teardown,
) {
  const { clock, metrics, settings, sql } = world;
  const { now } = time;
  const { allowLocalhost } = settings.x402;
  const resolve = createResolveHost();
  // The allowlist of vendors' domains is for payments, so it does not apply to developers' webhooks.
  const rules = { allowLocalhost, domainAllowlist: [], needsTls: true };
  const guard = createDestinationGuard({ resolve, clock, ...rules });
  // All endpoints may be at one host, so one origin may use a connection for each attempt in progress, and as many for
  // deliveries by hand.
  const bounds = { perOrigin: 2 * WEBHOOK_LIMITS.queue.inFlight };
  const client = teardown.use('webhook client', createGuardedClient({ guard, clock, bounds }));
  const send = createSendDelivery({ client, clock });
  const sealingSecret = settings.providerKeySecret;
  const openSecrets = sealingSecret === undefined ? undefined : createOpenSecrets(sealingSecret);
  if (openSecrets !== undefined) {
    const delivery = new EventDelivery({ ...world, now, send, openSecrets });
    teardown.use('webhook delivery', delivery);
    const workers = createWebhookWorkers({ sql, now, metrics, delivery });
    teardown.use('webhook workers', startWorkers(world, workers));
  }
  return {
    webhooks: createWebhooks({ ...world, guard, sealingSecret }),
    webhookTries: createWebhookTries({ ...world, send, now, openSecrets }),
    webhookRecoveries: createWebhookRecoveries(world),
    webhookLog: createWebhookLog(world),
  };
}
