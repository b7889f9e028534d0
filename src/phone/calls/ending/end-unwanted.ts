import type { Worker } from '../../../kernel/schedule.ts';
import type { CallDeps } from '../call-deps.ts';
import { findUnwanted } from './end-store.ts';

const EVERY_MS = 2_000;

/**
 * Ends the given calls of this process whose hang-up any process received, whose agent is suspended or closed, or whose key is
 * revoked. The database decides, because a notice of a stop names no calls and may come before a call is registered as live.
 */
export async function endUnwanted(
  { live, sql }: Pick<CallDeps, 'live' | 'sql'>,
  callIds: readonly string[] = [...live.keys()],
): Promise<void> {
  if (callIds.length === 0) return;
  for (const { id, reason } of await findUnwanted(sql, callIds)) live.get(id)?.end(reason);
}

/**
 * Returns the worker that ends unwanted calls of this process at every interval. A process that receives the hang-up of another
 * process's call only has the carrier close the media stream; when the carrier fails, this worker ends the call. The sweeper
 * ends transferred calls, which no process has.
 */
export const createCallEnder = (deps: Pick<CallDeps, 'live' | 'sql'>): Worker => ({
  name: 'end-unwanted-calls',
  everyMs: EVERY_MS,
  tick: () => endUnwanted(deps),
});
