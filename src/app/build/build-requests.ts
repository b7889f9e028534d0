import { createIdempotencyKeys } from '../../idempotency/idempotency-store.ts';
import { createAnswerKeeper } from '../../idempotency/keep-answers.ts';
import { createOutcomeKeeper } from '../../idempotency/keep-outcomes.ts';
import { IDEMPOTENCY_LIMITS } from '../../idempotency/limits.ts';
import { pruneRequests } from '../../idempotency/prune-requests.ts';
import { startWorkers } from '../../kernel/schedule.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import { RATE_LIMITS } from '../../rate-limit/limits.ts';
import { createRateWindows, pruneRateWindows } from '../../rate-limit/rate-store.ts';
import { createSharedRateLimiter } from '../../rate-limit/shared-rate-limit.ts';
import type { LedgerParts } from './build-ledger.ts';
import type { World } from './world.ts';

/** Builds the counts and memories of requests that all processes on one database share. */
export function buildRequests(
  world: World,
  { node, lease }: Pick<LedgerParts, 'node' | 'lease'>,
  teardown: Teardown,
) {
  const { sql, settings } = world;
  const keys = createIdempotencyKeys({ sql, node, windowMs: IDEMPOTENCY_LIMITS.windowMs });
  const outcomes = createOutcomeKeeper({ ...world, keys });
  const windows = createRateWindows(sql, RATE_LIMITS.window.lifeMs);
  teardown.defer('keyed answers', outcomes.tick);
  teardown.use(
    'request workers',
    startWorkers(world, [
      {
        name: 'write-outcomes',
        everyMs: IDEMPOTENCY_LIMITS.unwritten.retryMs,
        tick: outcomes.tick,
      },
      pruneRequests({
        sql,
        lease,
        pruneRateWindows: (most) => pruneRateWindows(sql, 2 * RATE_LIMITS.window.lifeMs, most),
      }),
    ]),
  );
  return {
    idempotency: createAnswerKeeper({
      ...world,
      keys,
      outcomes,
      lease,
      onKept: () => world.onPaymentStep?.('kept'),
    }),
    rateLimiter: createSharedRateLimiter({ ...world, windows }),
    rateLimits: { agentProxyPerMinute: settings.agentProxyPerMinute },
  };
}
