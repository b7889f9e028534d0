import { createAnswerKeeper } from '../http/keep-answers.ts';
import { createOutcomeKeeper } from '../http/keep-outcomes.ts';
import { createSharedRateLimiter } from '../http/shared-rate-limit.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Teardown } from '../kernel/teardown.ts';
import { createIdempotencyKeys } from '../store/idempotency-store.ts';
import { createRateWindows } from '../store/rate-store.ts';
import { pruneRequests } from '../workers/prune-requests.ts';
import { startWorkers } from '../workers/schedule.ts';
import type { LedgerParts } from './build-ledger.ts';
import type { World } from './world.ts';

/** What all processes on one database count and remember of requests together. */
export function buildRequests(
  world: World,
  { node, lease }: Pick<LedgerParts, 'node' | 'lease'>,
  teardown: Teardown,
) {
  const { sql, settings } = world;
  const keys = createIdempotencyKeys({ sql, node, windowMs: LIMITS.idempotencyWindowMs });
  const outcomes = createOutcomeKeeper({ ...world, keys });
  const windows = createRateWindows(sql, LIMITS.rateWindowMs);
  teardown.defer('keyed answers', outcomes.tick);
  teardown.use(
    'request workers',
    startWorkers(world, [
      {
        name: 'write-outcomes',
        everyMs: LIMITS.unwrittenOutcomes.retryMs,
        tick: outcomes.tick,
      },
      pruneRequests({ sql, lease }),
    ]),
  );
  return {
    idempotency: createAnswerKeeper({
      ...{ ...world, keys, outcomes, lease },
      onKept: () => world.onPaymentStep?.('kept'),
    }),
    rateLimiter: createSharedRateLimiter({ ...world, windows }),
    rateLimits: { agentProxyPerMinute: settings.agentProxyPerMinute },
  };
}
