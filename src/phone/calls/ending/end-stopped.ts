import type { CallDeps } from '../call-deps.ts';
import { findStopped } from './end-store.ts';

/**
 * Ends those of these calls at this process whose agent is suspended or closed, or whose key is revoked. A notice of a stop
 * names no calls, and one that comes while a call is opened finds it not yet among the live ones: the database decides.
 */
export async function endStopped(
  { live, sql }: Pick<CallDeps, 'live' | 'sql'>,
  callIds: readonly string[] = [...live.keys()],
): Promise<void> {
  if (callIds.length === 0) return;
  for (const callId of await findStopped(sql, callIds)) live.get(callId)?.end('suspended');
}
