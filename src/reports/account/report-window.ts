import { type Clock, isoTime } from '../../kernel/clock.ts';
import { dayAfter, dayOf } from '../days.ts';
import { ENFORCEABLE_SOURCES, RECONCILED_SOURCES, type SpendSource } from '../spend-source.ts';

/** Sources that count under policies: all but the uploads of agents, which move no money and break no cap. */
export const COUNTED_SOURCES: readonly SpendSource[] = [
  ...ENFORCEABLE_SOURCES,
  ...RECONCILED_SOURCES.filter((source) => source !== 'guard'),
];

export type Days = { readonly since: string; readonly until: string };

/** Returns the last `days` UTC days, today included. */
export function lastDays(clock: Clock, days: number): Days {
  const until = dayOf(clock.now());
  return { since: dayAfter(until, 1 - days), until };
}

/** Returns the UTC days of this month up to today, and the instants from which and to which they reach. */
export function thisMonth(clock: Clock): Days & { readonly start: string; readonly end: string } {
  const end = isoTime(clock.now());
  const since = `${end.slice(0, 7)}-01`;
  return { since, until: end.slice(0, 10), start: `${since}T00:00:00.000Z`, end };
}
