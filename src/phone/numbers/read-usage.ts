import type { Queryable } from '../../platform/postgres/sql.ts';
import { phoneErrors } from '../errors.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { type PhoneNumber, targetOf } from './number.ts';
import { findFleet, findUsage, type NumberUsage } from './usage-store.ts';

const DAY_MS = 86_400_000;
const CALLS_MS = 7 * DAY_MS;
/** Milliseconds after the release of a number in which its last call may be charged. */
const AFTER_RELEASE_MS = 2 * PHONE_LIMITS.call.longestSeconds * 1_000;
/**
 * Difference allowed between the clock of this process, which dates a purchase, and the database's clock, which dates its
 * charge.
 */
const CLOCKS_APART_MS = 60_000;

/** Reads the length of a report in days. Throws when it is invalid. */
export function requireDays(text: string | undefined): number {
  const { usual, most } = PHONE_LIMITS.number.usageDays;
  if (text === undefined || text === '') return usual;
  const days = Number(text);
  if (!/^\d{1,3}$/.test(text) || days < 1 || days > most) throw phoneErrors.invalidDays();
  return days;
}

/** Returns the cost of a number by day, for the last `days` days of UTC, today included. */
export async function readUsage(
  sql: Queryable,
  number: PhoneNumber,
  { days, nowMs }: { readonly days: number; readonly nowMs: number },
) {
  const { id, phoneNumber } = number;
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const usage = await usageSince(sql, number, today - (days - 1) * DAY_MS, nowMs);
  return {
    number: { id, phoneNumber },
    days,
    totalRaw: totalRaw(usage).toString(),
    daily: usage.days.map((each) => ({ ...each, totalRaw: each.totalRaw.toString() })),
    truncated: usage.isTruncated,
  };
}

/**
 * Returns the numbers that an account rents, with the calls of the last seven days and the spend of the month so far, by UTC.
 */
export async function readFleet(sql: Queryable, accountId: string, nowMs: number) {
  const now = new Date(nowMs);
  const monthMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const fleet = await findFleet(sql, accountId, new Date(nowMs - CALLS_MS));
  return Promise.all(
    fleet.map(async ({ phoneNumber, agentId, agentName, status, recentCalls, createdAt }) => {
      const number = { agentId, phoneNumber, createdAt, releasedAt: null };
      const usage = await usageSince(sql, number, monthMs, nowMs);
      return {
        number: phoneNumber,
        agentId,
        agentName,
        status,
        calls7d: recentCalls,
        spendMtdRaw: totalRaw(usage).toString(),
      };
    }),
  );
}

/** Returns the usage of a number during this rental only, because the agent may have rented the same number before. */
function usageSince(
  sql: Queryable,
  number: Pick<PhoneNumber, 'agentId' | 'phoneNumber' | 'createdAt' | 'releasedAt'>,
  sinceMs: number,
  nowMs: number,
): Promise<NumberUsage> {
  const { agentId, phoneNumber, createdAt, releasedAt } = number;
  const endMs = (releasedAt?.getTime() ?? nowMs) + AFTER_RELEASE_MS;
  return findUsage(sql, {
    agentId,
    target: targetOf(phoneNumber),
    since: new Date(Math.max(sinceMs, createdAt.getTime() - CLOCKS_APART_MS)),
    until: new Date(endMs),
  });
}

const totalRaw = ({ days }: NumberUsage): bigint =>
  days.reduce((sum, day) => sum + day.totalRaw, 0n);
