import { insertEvents } from '../../ledger/store/agent-funds.ts';
import { numberInGrace } from '../../webhooks/phone-event.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { moveNumber, releaseNumber } from './move-number.ts';
import type { PhoneNumber, ReleaseReason } from './number.ts';
import type { NumberDeps } from './number-deps.ts';
import { saveDue } from './number-store.ts';
import { payMonth } from './pay-month.ts';
import { monthsAfter } from './renewal-date.ts';
import { returnNumber } from './return-number.ts';

/**
 * Charges the month that has begun. When the balance or a cap does not cover it, the number is in grace for a week and then
 * released; a suspended agent keeps its number, and owes the months until it is resumed or closed.
 */
export async function renewNumber(deps: NumberDeps, number: PhoneNumber): Promise<void> {
  const { sql, now } = deps;
  const { nextRenewalAt } = number;
  // The rental is not due yet, for example because another process has just paid it.
  if (nextRenewalAt === null || now() < nextRenewalAt.getTime()) {
    return saveDue(sql, number, nextRenewalAt);
  }
  const payment = await payMonth(deps, number);
  if (payment.kind === 'moot') return;
  if (payment.kind === 'paid') return extendRental(deps, number);
  const { reason } = payment.refusal;
  if (reason === 'agent_closed') return endRental(deps, number, 'agent_winddown');
  if (reason === 'agent_suspended') return saveDue(sql, number, retryAt(deps));
  if (number.graceUntil === null) return beginGrace(deps, number);
  if (now() >= number.graceUntil.getTime()) return endRental(deps, number, 'non_payment');
  await saveDue(sql, number, earlier(retryAt(deps), number.graceUntil));
}

async function extendRental({ sql }: NumberDeps, number: PhoneNumber): Promise<void> {
  const paidMonths = number.paidMonths + 1;
  const nextRenewalAt = monthsAfter(number.createdAt, paidMonths);
  await moveNumber(sql, number, 'rental.paid', {
    paidMonths,
    nextRenewalAt,
    graceUntil: null,
    dueAt: nextRenewalAt,
  });
}

async function beginGrace(deps: NumberDeps, number: PhoneNumber): Promise<void> {
  const graceUntil = new Date(deps.now() + PHONE_LIMITS.number.graceMs);
  await deps.sql.begin(async (tx) => {
    const change = { graceUntil, dueAt: earlier(retryAt(deps), graceUntil) };
    const moved = await moveNumber(tx, number, 'rental.refused', change);
    if (moved !== undefined) await insertEvents(tx, [numberInGrace(moved, graceUntil)]);
  });
}

async function endRental(
  deps: NumberDeps,
  number: PhoneNumber,
  reason: ReleaseReason,
): Promise<void> {
  const at = new Date(deps.now());
  const times = { at, dueAt: new Date(at.getTime() + PHONE_LIMITS.number.unfinishedMs) };
  const released = await deps.sql.begin((tx) => releaseNumber(tx, number, reason, times));
  if (released !== undefined) await returnNumber(deps, released);
}

const retryAt = ({ now }: NumberDeps): Date => new Date(now() + PHONE_LIMITS.number.rentalRetryMs);

const earlier = (a: Date, b: Date): Date => (a < b ? a : b);
