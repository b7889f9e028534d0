import { type NumberEvent, planNumber } from '../../../machines/phone-number.ts';
import { insertEvents } from '../../ledger/store/agent-funds.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { numberReleased } from '../../webhooks/phone-event.ts';
import type { PhoneNumber, ReleaseReason } from './number.ts';
import { type NumberChange, saveMove } from './number-store.ts';

/**
 * Changes the status of a number by one event. Undefined when the event does not apply to the status that was read, or the
 * number has changed since.
 */
export async function moveNumber(
  tx: Queryable,
  read: PhoneNumber,
  event: NumberEvent['type'],
  change: NumberChange,
): Promise<PhoneNumber | undefined> {
  const to = planNumber(read.status, event);
  return to === undefined ? undefined : saveMove(tx, read, to, change);
}

/** Time of a release, and time at which a worker returns the number to the carrier if this process does not. */
export type ReleaseTimes = { readonly at: Date; readonly dueAt: Date };

/** Releases a number and writes the event in the same sql transaction. Undefined when the number is released already. */
export async function releaseNumber(
  tx: Queryable,
  read: PhoneNumber,
  reason: ReleaseReason,
  { at, dueAt }: ReleaseTimes,
): Promise<PhoneNumber | undefined> {
  const event = reason === 'non_payment' ? 'grace.ended' : 'release.requested';
  const released = await moveNumber(tx, read, event, {
    releasedAt: at,
    releaseReason: reason,
    nextRenewalAt: null,
    graceUntil: null,
    dueAt,
  });
  if (released !== undefined) await insertEvents(tx, [numberReleased(released, reason)]);
  return released;
}
