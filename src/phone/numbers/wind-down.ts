import type { Queryable } from '../../platform/postgres/sql.ts';
import { releaseNumber } from './move-number.ts';
import { lockLiving } from './number-store.ts';

/**
 * Releases the number of an agent in the sql transaction that closes the agent, so that no rental is held any more when
 * its balance is paid out. The end of a purchase that is under way releases its number.
 */
export async function releaseAtClose(tx: Queryable, agentId: number, now: Date): Promise<void> {
  const number = await lockLiving(tx, agentId);
  if (number === undefined) return;
  await releaseNumber(tx, number, 'agent_winddown', { at: now, dueAt: now });
}
