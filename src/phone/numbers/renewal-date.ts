/**
 * Returns the same day and time `months` later, in UTC, or the last day of a month that has no such day. `start` is the first
 * day of the rental, so that the 31st comes back after a short month.
 */
export function monthsAfter(start: Date, months: number): Date {
  const due = new Date(start);
  due.setUTCDate(1);
  due.setUTCMonth(start.getUTCMonth() + months);
  const lastDay = new Date(due);
  lastDay.setUTCMonth(due.getUTCMonth() + 1);
  lastDay.setUTCDate(0);
  due.setUTCDate(Math.min(start.getUTCDate(), lastDay.getUTCDate()));
  return due;
}
