import { cardinal, decade, decimal, digitWords, ordinal, year } from './number-words.ts';

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
const MONTH =
  '(Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)';

type Currency = { readonly one: string; readonly many: string; readonly hundredth: string };

const CURRENCIES: Readonly<Record<string, Currency>> = {
  $: { one: 'dollar', many: 'dollars', hundredth: 'cent' },
  '€': { one: 'euro', many: 'euros', hundredth: 'cent' },
  '£': { one: 'pound', many: 'pounds', hundredth: 'penny' },
  '¥': { one: 'yen', many: 'yen', hundredth: '' },
  '₹': { one: 'rupee', many: 'rupees', hundredth: 'paisa' },
};
const SCALES: Readonly<Record<string, string>> = {
  k: 'thousand',
  m: 'million',
  mn: 'million',
  b: 'billion',
  bn: 'billion',
};
const PER: Readonly<Record<string, string>> = {
  mo: 'month',
  yr: 'year',
  hr: 'hour',
  h: 'hour',
  min: 'minute',
  sec: 'second',
};
/** Singular and plural of each unit. */
const UNITS: Readonly<Record<string, readonly [string, string]>> = {
  km: ['kilometer', 'kilometers'],
  m: ['meter', 'meters'],
  cm: ['centimeter', 'centimeters'],
  mm: ['millimeter', 'millimeters'],
  mi: ['mile', 'miles'],
  ft: ['foot', 'feet'],
  kg: ['kilogram', 'kilograms'],
  lb: ['pound', 'pounds'],
  lbs: ['pound', 'pounds'],
  oz: ['ounce', 'ounces'],
  mph: ['mile per hour', 'miles per hour'],
  kph: ['kilometer per hour', 'kilometers per hour'],
  ms: ['millisecond', 'milliseconds'],
  sec: ['second', 'seconds'],
  secs: ['second', 'seconds'],
  min: ['minute', 'minutes'],
  mins: ['minute', 'minutes'],
  hr: ['hour', 'hours'],
  hrs: ['hour', 'hours'],
  kB: ['kilobyte', 'kilobytes'],
  KB: ['kilobyte', 'kilobytes'],
  MB: ['megabyte', 'megabytes'],
  GB: ['gigabyte', 'gigabytes'],
  TB: ['terabyte', 'terabytes'],
  kW: ['kilowatt', 'kilowatts'],
  kWh: ['kilowatt hour', 'kilowatt hours'],
  '°C': ['degree Celsius', 'degrees Celsius'],
  '°F': ['degree Fahrenheit', 'degrees Fahrenheit'],
  '°': ['degree', 'degrees'],
};
const FRACTIONS: Readonly<Record<string, string>> = {
  '1/2': 'one half',
  '1/3': 'one third',
  '2/3': 'two thirds',
  '1/4': 'one quarter',
  '3/4': 'three quarters',
  '24/7': 'twenty-four seven',
};

/** A number of thousands with commas, or plain, with a fraction or without. */
const NUMBER = '\\d{1,3}(?:,\\d{3})+(?:\\.\\d+)?|\\d+(?:\\.\\d+)?';
/** Matches a place that does not follow a part of a longer number or of a word. */
const FREE = '(?<![\\p{L}\\p{N}.,_/-]|\\d )';
const FREE_LOOSE = '(?<![\\p{L}\\p{N}_]|[\\p{N}][.,])';
const ENDS = '(?![\\p{L}\\p{N}_]|[.,]\\d)';

type Rule = readonly [RegExp, (match: string, ...groups: string[]) => string];

const rule = (pattern: string, read: Rule[1], flags = 'gu'): Rule => [
  new RegExp(pattern, flags),
  read,
];

const isOne = (text: string): boolean => text === '1';

const groupsOf = (text: string): string =>
  (text.match(/\d+/g) ?? []).map((digits) => digitWords(digits)).join(', ');

function monthName(text: string): string {
  const begin = text.slice(0, 3).toLowerCase();
  return MONTHS.find((name) => name.toLowerCase().startsWith(begin)) ?? text;
}

function money(sign: string, amount: string, scale = '', per = ''): string {
  const currency = CURRENCIES[sign];
  if (currency === undefined) return `${sign}${amount}`;
  const every = per === '' ? '' : ` per ${PER[per] ?? per}`;
  const large = SCALES[scale.toLowerCase()] ?? scale;
  if (large !== '') return `${decimal(amount)} ${large} ${currency.many}${every}`;
  return `${sumOf(currency, amount)}${every}`;
}

function sumOf({ hundredth, many, one }: Currency, amount: string): string {
  const [whole = '0', fraction = ''] = amount.replaceAll(',', '').split('.', 2);
  const named = (digits: string) => `${cardinal(digits)} ${isOne(digits) ? one : many}`;
  if (fraction === '' || /^0+$/.test(fraction)) return named(whole);
  if (fraction.length !== 2 || hundredth === '') return `${decimal(amount)} ${many}`;
  const cents = String(Number(fraction));
  const small = `${cardinal(cents)} ${isOne(cents) ? hundredth : pluralOf(hundredth)}`;
  return Number(whole) === 0 ? small : `${named(whole)} and ${small}`;
}

const pluralOf = (word: string): string => (word === 'penny' ? 'pence' : `${word}s`);

function time(hours: string, minutes: string, half = ''): string {
  const [h, m] = [Number(hours), Number(minutes)];
  const part = half === '' ? '' : ` ${half.toUpperCase()}M`;
  if (m === 0) return `${cardinal(hours)}${part === '' && h > 0 && h <= 12 ? " o'clock" : part}`;
  return `${cardinal(hours)} ${m < 10 ? `oh ${cardinal(minutes)}` : cardinal(minutes)}${part}`;
}

const date = (month: string, day: string, inYear = ''): string =>
  `${month} ${ordinal(String(Number(day)))}${inYear === '' ? '' : `, ${year(inYear)}`}`;

function slashDate(match: string, month: string, day: string, inYear: string): string {
  const name = MONTHS[Number(month) - 1];
  return name === undefined || Number(day) > 31 ? match : date(name, day, inYear);
}

function isoDate(match: string, inYear: string, month: string, day: string): string {
  return slashDate(match, month, day, inYear);
}

/** Rules in the order of application. Text that one rule has replaced is plain words for the next rule. */
const RULES: readonly Rule[] = [
  rule(
    `(?<![\\p{N}])\\+\\d{1,3}(?:[ .-]?\\(?\\d{2,4}\\)?){2,5}(?!\\d)`,
    (match) =>
      `plus ${groupsOf(match.replace(/^\+(\d{7,15})$/, (_, digits: string) => grouped(digits)))}`,
  ),
  rule(`${FREE_LOOSE}(?:1[-. ])?\\(?(\\d{3})\\)?[-. ](\\d{3})[-. ](\\d{4})${ENDS}`, groupsOf),
  rule(`${FREE}(\\d{4})-(\\d\\d)-(\\d\\d)${ENDS}`, isoDate),
  rule(`${FREE}(1[0-2]|0?[1-9])/([0-3]?\\d)/((?:19|20)\\d\\d)${ENDS}`, slashDate),
  rule(
    `\\b${MONTH}\\.? (\\d{1,2})(?:st|nd|rd|th)?(?:, ((?:1[1-9]|20)\\d\\d))?${ENDS}`,
    (match, name, day, inYear) =>
      Number(day) > 31 ? match : date(monthName(name ?? ''), day ?? '', inYear),
  ),
  rule(
    `${FREE}(\\d{1,2}):([0-5]\\d)(?!:?\\d)(?:\\s?([ap])(?:\\.m\\.|\\.?m\\b))?`,
    (match, hours, minutes, half) =>
      Number(hours) > 24 ? match : time(hours ?? '', minutes ?? '', half),
    'giu',
  ),
  rule(
    `${FREE}(\\d{1,2})\\s?([ap])(?:\\.m\\.|\\.?m\\b)`,
    (_, hours, half) => time(hours ?? '', '00', half),
    'giu',
  ),
  rule(`(?<=^|[\\s(])[-−](?=[$€£¥₹]?\\d)`, () => 'minus '),
  rule(
    `([$€£¥₹])\\s?(${NUMBER})(?!\\d|[.,]\\d)(?:\\s?(thousand|million|billion|trillion|[kKMB]|[mb]n)\\b)?(?:\\s?/\\s?([a-z]{1,10})\\b)?`,
    (_, sign, amount, scale, per) => money(sign ?? '', amount ?? '', scale, per),
  ),
  rule(`${FREE_LOOSE}((?:1[5-9]|20)\\d0)s\\b`, (_, digits) => decade(digits ?? '')),
  rule(`(?<=^|\\s)['’]([2-9]0)s\\b`, (_, digits) => decade(`19${digits}`).replace('nineteen ', '')),
  rule(`${FREE_LOOSE}(${NUMBER})\\s?%`, (_, amount) => `${decimal(amount ?? '')} percent`),
  rule(`${FREE_LOOSE}(\\d{1,3}(?:,\\d{3})*|\\d+)(?:st|nd|rd|th)\\b`, (_, digits) =>
    ordinal((digits ?? '').replaceAll(',', '')),
  ),
  rule(`(?<![\\p{L}\\p{N}&])#(?=\\d)`, () => 'number '),
  rule(`${FREE}(1/[234]|2/3|3/4|24/7)${ENDS}(?!/)`, (match) => FRACTIONS[match] ?? match),
  rule(`(?<=\\d)\\s?[–—]\\s?(?=\\d)|(?<=(?<![\\d-])\\d{1,3})-(?=\\d{1,3}(?![\\d-]))`, () => ' to '),
  rule(
    `${FREE_LOOSE}(${NUMBER})\\s?(km|cm|mm|mi|ft|kg|lbs?|oz|mph|kph|ms|secs?|mins?|hrs?|kB|KB|MB|GB|TB|kWh?|°[CF]?)(?![\\p{L}\\p{N}])`,
    (_, amount, unit) =>
      `${decimal(amount ?? '')} ${UNITS[unit ?? '']?.[isOne(amount ?? '') ? 0 : 1]}`,
  ),
  rule(`${FREE}\\d+(?:\\.\\d+){2,}${ENDS}`, (match) =>
    match
      .split('.')
      .map((part) => cardinal(part))
      .join(' point '),
  ),
  rule(
    `(?<=\\b(?:in|since|from|until|till|by|of|year|before|after|early|mid|late|around|between|and|to|through|spring|summer|fall|autumn|winter|January|February|March|April|May|June|July|August|September|October|November|December),? )((?:1[5-9]|20)\\d\\d)${ENDS}`,
    (match) => year(match),
    'giu',
  ),
  rule(
    `(?<=\\b(?:code|pin|zip|account|order|invoice|confirmation|reference|ticket|case|id|extension|ext\\.?|passcode|tracking)(?: (?:number|code|id|is))*[:#]? (?:is )?)\\d{4,}${ENDS}`,
    (match) => digitWords(match),
    'giu',
  ),
  rule(`${FREE_LOOSE}(?:0\\d+|\\d{7,})${ENDS}`, (match) => digitWords(match)),
  rule(`${FREE_LOOSE}(?:${NUMBER})${ENDS}`, (match) => decimal(match)),
];

const grouped = (digits: string): string => digits.match(/\d{1,3}/g)?.join(' ') ?? digits;

/** Returns an English text with its numbers in words: amounts of money, times, dates, telephone numbers and plain numbers. */
export function sayNumbers(text: string): string {
  if (!/\d/.test(text)) return text;
  let said = text;
  for (const [pattern, read] of RULES) said = said.replace(pattern, read);
  return said;
}
