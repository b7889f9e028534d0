import { phoneErrors } from '../errors.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { releaseNumber } from './move-number.ts';
import type { PhoneNumber } from './number.ts';
import type { NumberDeps } from './number-deps.ts';
import { findNumber, lockNumber } from './number-store.ts';
import { returnNumber } from './return-number.ts';

/**
 * Releases a number for its developer, for good and without a refund; repeating the release changes nothing. The number is
 * returned to the carrier at once or, after a failure, by a worker.
 */
export async function releaseByDeveloper(
  deps: Omit<NumberDeps, 'ledger'>,
  ref: { readonly agentId: number; readonly id: number },
): Promise<PhoneNumber> {
  const { sql, now } = deps;
  const { number, isNew } = await sql.begin(async (tx) => {
    const found = await findNumber(tx, ref);
    const read = found && (await lockNumber(tx, found.id));
    if (read === undefined) throw phoneErrors.numberNotFound();
    const at = new Date(now());
    const dueAt = new Date(at.getTime() + PHONE_LIMITS.number.unfinishedMs);
    const released = await releaseNumber(tx, read, 'developer_release', { at, dueAt });
    return { number: released ?? read, isNew: released !== undefined };
  });
  if (isNew) await returnNumber(deps, number);
  return number;
}
