import type { Worker } from '../../../kernel/schedule.ts';
import type { CallDeps } from '../call-deps.ts';
import { findUnwanted } from './end-store.ts';

const EVERY_MS = 2_000;

/**
 * Ends those of these calls at this process whose hang-up was asked for at any process, whose agent is suspended or closed, or
 * whose key is revoked. A notice of a stop names no calls, and one that comes while a call is opened finds it not yet among
 * the live ones: the database decides.
 */
export async function endUnwanted(
  { live, sql }: Pick<CallDeps, 'live' | 'sql'>,
  callIds: readonly string[] = [...live.keys()],
): Promise<void> {
  if (callIds.length === 0) return;
  for (const { id, reason } of await findUnwanted(sql, callIds)) live.get(id)?.end(reason);
}

/**
 * Looks for such calls again and again. A process that is asked to hang up a call of another one asks the carrier, which
 * closes the media stream; where the carrier fails, the stream stays open, and nothing else tells the process that has it.
 * A call that was transferred is at no process: the sweeper finds it.
 */
export const createCallEnder = (deps: Pick<CallDeps, 'live' | 'sql'>): Worker => ({
  name: 'end-unwanted-calls',
  everyMs: EVERY_MS,
  tick: () => endUnwanted(deps),
});
