import type { AnyRoute } from '../../src/http/route/route.ts';
import { createIdempotencyKeys } from '../../src/idempotency/idempotency-store.ts';
import { createAnswerKeeper } from '../../src/idempotency/keep-answers.ts';
import { createOutcomeKeeper, type OutcomeKeeper } from '../../src/idempotency/keep-outcomes.ts';
import { IDEMPOTENCY_LIMITS } from '../../src/idempotency/limits.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import type { Node } from '../../src/ledger/rules/node.ts';
import { takeLease } from '../../src/ledger/store/lease-store.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { type Edge, startEdge } from './edge.ts';

export type KeyedEdge = Edge & { readonly node: Node; readonly outcomes: OutcomeKeeper };

let nodes = 0;

/** The real edge with the real store of answers, as one process on the database. */
export async function startKeyedEdge(
  sql: Sql,
  routes: readonly AnyRoute[],
  options: Parameters<typeof startEdge>[0] = {},
): Promise<KeyedEdge> {
  const node = await takeLease(sql, `edge ${process.pid} ${++nodes}`, 3_600_000);
  const shared = { clock: systemClock, random: systemRandom, log: silentLog };
  const keys = createIdempotencyKeys({ sql, node, windowMs: IDEMPOTENCY_LIMITS.windowMs });
  const outcomes = createOutcomeKeeper({ keys, ...shared });
  const lease = { mayReap: () => true, tick: async () => {} };
  const idempotency = createAnswerKeeper({ keys, outcomes, lease, ...shared });
  return Object.assign(await startEdge({ routes, idempotency, ...options }), { node, outcomes });
}
