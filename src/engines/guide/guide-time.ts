import { isoTime } from '../../kernel/clock.ts';

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
/** The epoch began on a Thursday. */
const WEEKDAYS = [
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
] as const;
const DAY_MS = 86_400_000;

const ASKS_TIME = /\b(?:what(?: is|s)?(?: the)?(?: current)? time|time is it|the time now)\b/;
const ASKS_DATE =
  /\b(?:what(?: is|s)? (?:the |todays |the current )?date|(?:what|which) day|todays date|what year)\b/;

/** Tells the time or the date, in UTC, when that is what is asked. */
export function answerTime(question: string, nowMs: number): string | undefined {
  const plain = question.toLowerCase().replace(/['’]/g, '');
  const [date = '', time = ''] = isoTime(nowMs).split('T');
  const [year, month, day] = date.split('-').map(Number);
  const weekday = WEEKDAYS[Math.floor(nowMs / DAY_MS) % WEEKDAYS.length];
  const today = `${weekday}, ${day} ${MONTHS[(month ?? 1) - 1]} ${year}`;
  if (ASKS_TIME.test(plain)) return `It is ${time.slice(0, 5)} UTC on ${today}.`;
  if (ASKS_DATE.test(plain)) return `Today is ${today}.`;
  return undefined;
}
