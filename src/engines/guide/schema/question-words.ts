import { isoTime } from '../../../kernel/clock.ts';
import { digitsForWords } from '../guide-numbers.ts';
import { stem, wordsOf } from '../guide-words.ts';
import { isDate } from './formats.ts';

/** Something that a question names: what it is, and the word before it, in small letters. */
export type Named = { readonly text: string; readonly before: string };

/** A number of a question, with the words around it cut to their stems. */
export type Counted = { readonly value: number; readonly near: readonly string[] };

/** What a question says that may be filled in somewhere. */
export type QuestionWords = {
  readonly text: string;
  /** All its words with spaces around them, to be looked for in. */
  readonly plain: string;
  readonly numbers: readonly Counted[];
  readonly dates: readonly string[];
  readonly times: readonly string[];
  readonly quoted: readonly string[];
  readonly emails: readonly string[];
  readonly urls: readonly string[];
  readonly others: readonly string[];
  /** What stands behind a word such as `in` or `to`, and runs of words with capitals. */
  readonly named: readonly Named[];
  /** What is answered to it where no schema is asked for. */
  readonly answer: string;
  readonly nowMs: number;
};

const EMAIL = /[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}/g;
const URL = /\bhttps?:\/\/[^\s"'<>]{1,500}/g;
const OTHER =
  /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|\+\d[\d ()-]{5,18}\d/gi;
const QUOTED =
  /"([^"]{1,500})"|“([^”]{1,500})”|'([^'\s](?:[^']{0,498}[^'\s])?)'(?!\w)|`([^`]{1,500})`/g;
const NUMBER = /(?<![\w.,-])-?\d{1,15}(?:,\d{3})*(?:\.\d{1,9})?(?![\w]|[.,:]\d|-\d)/g;
const CLOCK = /\b(\d{1,2})(?::(\d\d))?(?::(\d\d))?\s?(am|pm)?\b/gi;
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const MONTH = '(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\\.?';
const DAY = '(\\d{1,2})(?:st|nd|rd|th)?';
const WRITTEN_DATES = [
  { form: new RegExp(`\\b${DAY} (?:of )?${MONTH}(?:,? (\\d{4}))?\\b`, 'gi'), day: 1, month: 2 },
  { form: new RegExp(`\\b${MONTH} ${DAY}(?:,? (\\d{4}))?\\b`, 'gi'), day: 2, month: 1 },
];
const WEEKDAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
const DAY_MS = 86_400_000;
const LEADS = 'in|at|near|for|from|to|of|with|by|on|named|called|about|saying|into|as';
const STOPS = new Set(
  `${LEADS.replaceAll('|', ' ')} and or please today tomorrow tonight yesterday now this next right
  within until till before after using then when if is are was be so but who that which via
  monday tuesday wednesday thursday friday saturday sunday`.split(/\s+/),
);
const MOST_NAME_WORDS = 5;

/** Reads a question once, for all that is filled in by it. */
export function readQuestion(text: string, answer: string, nowMs: number): QuestionWords {
  const bare = text.replace(EMAIL, ' ').replace(URL, ' ').replace(OTHER, ' ');
  const dates = datesOf(text, nowMs);
  return {
    text,
    answer,
    nowMs,
    dates,
    plain: ` ${wordsOf(text).join(' ')} `,
    numbers: numbersOf(bare),
    times: timesOf(bare),
    quoted: [...text.matchAll(QUOTED)].map(([, a, b, c, d]) => a ?? b ?? c ?? d ?? ''),
    emails: text.match(EMAIL) ?? [],
    urls: (text.match(URL) ?? []).map((url) => url.replace(/[).,!?;:]+$/, '')),
    others: text.match(OTHER) ?? [],
    named: namesOf(bare.replace(QUOTED, ', ')),
  };
}

function numbersOf(text: string): Counted[] {
  const digits = text.replace(/[A-Za-z][A-Za-z -]*/g, (run) => digitsKeepingCase(run));
  return [...digits.matchAll(NUMBER)].map((found) => {
    const [written] = found;
    const before = wordsOf(digits.slice(Math.max(0, found.index - 40), found.index)).slice(-2);
    const end = found.index + written.length;
    const after = wordsOf(digits.slice(end, end + 40)).slice(0, 2);
    return {
      value: Number(written.replaceAll(',', '')),
      near: [...after, ...before.toReversed()].map(stem),
    };
  });
}

/** Number words as digits, and the space around them as it was. */
function digitsKeepingCase(run: string): string {
  const ends = /^(\s*)([\s\S]*?)(\s*)$/.exec(run);
  return `${ends?.[1] ?? ''}${digitsForWords((ends?.[2] ?? '').toLowerCase())}${ends?.[3] ?? ''}`;
}

const two = (value: number | string | undefined) => String(value ?? 0).padStart(2, '0');
const dayOf = (ms: number): string => isoTime(ms).slice(0, 10);

function datesOf(text: string, nowMs: number): string[] {
  const found: { readonly at: number; readonly date: string }[] = [];
  for (const match of text.matchAll(/\b\d{4}-\d\d-\d\d\b/g)) {
    found.push({ at: match.index, date: match[0] });
  }
  for (const { day, form, month } of WRITTEN_DATES) {
    for (const match of text.matchAll(form)) {
      const number = MONTHS.indexOf((match[month] ?? '').toLowerCase()) + 1;
      const year = match[3] ?? dayOf(nowMs).slice(0, 4);
      found.push({ at: match.index, date: `${year}-${two(number)}-${two(match[day])}` });
    }
  }
  const words =
    /\b(today|tonight|tomorrow|yesterday|(?:next |this )?(?:sun|mon|tues|wednes|thurs|fri|satur)day)\b/gi;
  for (const match of text.matchAll(words)) {
    found.push({ at: match.index, date: dayOf(nowMs + daysUntil(match[0].toLowerCase(), nowMs)) });
  }
  return found
    .sort((a, b) => a.at - b.at)
    .map(({ date }) => date)
    .filter(isDate);
}

function daysUntil(word: string, nowMs: number): number {
  if (word === 'tomorrow') return DAY_MS;
  if (word === 'yesterday') return -DAY_MS;
  const weekday = WEEKDAYS.findIndex((name) => word.endsWith(name));
  if (weekday === -1) return 0;
  // The epoch began on a Thursday.
  const today = (Math.floor(nowMs / DAY_MS) + 4) % 7;
  return ((weekday - today + 7) % 7 || 7) * DAY_MS;
}

function timesOf(text: string): string[] {
  return [...text.matchAll(CLOCK)].flatMap(([, hours, minutes, seconds, half]) => {
    if (minutes === undefined && half === undefined) return [];
    const isAfternoon = half?.toLowerCase() === 'pm';
    const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (isAfternoon ? 12 : 0);
    if (hour > 23 || Number(minutes ?? 0) > 59 || Number(seconds ?? 0) > 59) return [];
    return [`${two(hour)}:${two(minutes)}:${two(seconds)}`];
  });
}

function namesOf(text: string): Named[] {
  const words = [...text.matchAll(/[^\s"“”]+/g)].map(([word]) => word);
  const named: Named[] = [];
  const lead = new RegExp(`^(?:${LEADS})$`);
  for (const [index, word] of words.entries()) {
    const small = word.toLowerCase();
    if (lead.test(small)) {
      const name = nameFrom(words, index + 1);
      if (name !== '') named.push({ text: name, before: small });
    }
    const isName = /^\p{Lu}[\p{L}\p{N}]/u.test(word) && index > 0;
    const before = words[index - 1]?.toLowerCase() ?? '';
    const goesOn = /^\p{Lu}/u.test(words[index - 1] ?? '') && index > 1;
    if (isName && !goesOn && !lead.test(before)) {
      const name = capitalsFrom(words, index);
      if (name !== '') named.push({ text: name, before: '' });
    }
  }
  return named;
}

const bareWord = (word: string) => word.replace(/^[(]+|[).,!?;:]+$/g, '').replace(/['’]s$/, '');
const endsHere = (word: string) => /[.,!?;:]$/.test(word);

/** The words of a name, up to one that cannot belong to it. */
function nameFrom(words: readonly string[], from: number): string {
  const name: string[] = [];
  for (const word of words.slice(from, from + MOST_NAME_WORDS)) {
    const bare = bareWord(word);
    if (bare === '' || STOPS.has(bare.toLowerCase())) break;
    const isArticle = name.length === 0 && /^(?:the|a|an|my|your|our)$/i.test(bare);
    if (!isArticle) name.push(bare);
    if (endsHere(word)) break;
  }
  return name.join(' ');
}

function capitalsFrom(words: readonly string[], from: number): string {
  const name: string[] = [];
  for (const word of words.slice(from, from + MOST_NAME_WORDS)) {
    if (!/^\p{Lu}/u.test(word)) break;
    name.push(bareWord(word));
    if (endsHere(word)) break;
  }
  return name.join(' ');
}
