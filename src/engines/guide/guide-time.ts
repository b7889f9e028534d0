import { isoTime } from '../../kernel/clock.ts';

const IN_UTC = { timeZone: 'UTC' } as const;
const WEEKDAY = new Intl.DateTimeFormat('en-GB', { ...IN_UTC, weekday: 'long' });
const DATE = new Intl.DateTimeFormat('en-GB', { ...IN_UTC, dateStyle: 'long' });

const ASKS_TIME = /\b(?:what(?: is|s)?(?: the)?(?: current)? time|time is it|the time now)\b/;
const ASKS_DATE =
  /\b(?:what(?: is|s)? (?:the |todays |the current )?date|(?:what|which) day|todays date|what year)\b/;

/** Tells the time or the date, in UTC, when that is what is asked. */
export function answerTime(question: string, nowMs: number): string | undefined {
  const plain = question.toLowerCase().replace(/['’]/g, '');
  const today = `${WEEKDAY.format(nowMs)}, ${DATE.format(nowMs)}`;
  if (ASKS_TIME.test(plain)) return `It is ${isoTime(nowMs).slice(11, 16)} UTC on ${today}.`;
  if (ASKS_DATE.test(plain)) return `Today is ${today}.`;
  return undefined;
}
