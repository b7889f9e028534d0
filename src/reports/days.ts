import { isoTime } from '../kernel/clock.ts';

const DAY_MS = 86_400_000;

/** Returns the UTC day of an instant, as `2026-11-29`. */
export const dayOf = (ms: number): string => isoTime(ms).slice(0, 10);

/** Returns the UTC day that is `days` after a day, or before it for a negative number. */
export const dayAfter = (day: string, days: number): string =>
  dayOf(Date.parse(day) + days * DAY_MS);

/** Returns all UTC days from the first to the last, both included. */
export function daysBetween(first: string, last: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(first); at <= Date.parse(last); at += DAY_MS) days.push(dayOf(at));
  return days;
}
