import { retryProvisions } from '../../accounts/agents/retry-provisions.ts';
import { flushAiTools } from '../../accounts/developers/ai-tools.ts';
import { pollInvalidations } from '../../accounts/keys/invalidations.ts';
import { flushKeyUse } from '../../accounts/keys/key-use.ts';
import type { HealthChecks } from '../../http/server/health-checks.ts';
import { startWorkers } from '../../kernel/schedule.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import type { AccountParts } from './build-accounts.ts';
import { pushMonitoring } from './push-monitoring.ts';
import type { World } from './world.ts';

/** Starts the workers of accounts and keys, and with a configured monitor the worker that reports to it. */
export function startAccountWorkers(
  world: World,
  accounts: AccountParts,
  health: HealthChecks,
  teardown: Teardown,
): void {
  const { url, key } = world.settings.monitoring;
  const { log, fetch } = world;
  const monitoring = { fetch, log, url, status: health.report };
  teardown.defer('key use', () => accounts.keyUse.flush());
  teardown.defer('uses of AI tools', () => accounts.aiTools.flush());
  teardown.use(
    'workers',
    startWorkers(world, [
      pollInvalidations(accounts),
      flushKeyUse(accounts),
      flushAiTools(accounts),
      retryProvisions(accounts.provisioning),
      ...(key === undefined ? [] : [pushMonitoring({ ...monitoring, key })]),
    ]),
  );
}
