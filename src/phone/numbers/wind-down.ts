import type { Queryable } from '../../platform/postgres/sql.ts';
import { releaseNumber } from './move-number.ts';
import { lockLiving } from './number-store.ts';

/**
 * Releases an agent's number in the sql transaction that closes the agent, so that no rental is held when the balance is paid
 * out. A purchase in progress releases its number when it ends.
 */
export async function releaseAtClose(tx: Queryable, agentId: number, now: Date): Promise<void> {
  const number = await lockLiving(tx, agentId);
  if (number === undefined) return;
  await releaseNumber(tx, number, 'agent_winddown', { at: now, dueAt: now });
}
