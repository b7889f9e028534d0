import { isoTime } from '../../../kernel/clock.ts';
import { readPattern } from './pattern-tree.ts';

/** A format of texts: what is one, and some of them, the plainest first. */
export type Format = {
  readonly isOne: (text: string) => boolean;
  readonly samples: (now: Now) => readonly string[];
};

/** The moment of the question, of which dates and times are taken that it does not name. */
export type Now = { readonly nowMs: number };

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|[+-](\d\d)(?::?(\d\d))?)$/i;
const PLAIN_TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?$/;
const DURATION =
  /^P(?:\d+W|(?=\d|T\d)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const HOST = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`, 'i');
const EMAIL_NAME = /^[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*$/i;
const DOMAIN = new RegExp(`^(?:${LABEL}\\.)+[a-z]{2,}$`, 'i');
const SEGMENT = '[a-z0-9._~!$&()*+,;=:@%/?#-]*';
const URI = new RegExp(
  `^[a-z][a-z0-9+.-]*://([a-z0-9.-]+)(?::\\d{1,5})?(?:[/?#]${SEGMENT})?$`,
  'i',
);
const OTHER_URI = /^(?:mailto|urn|tel|data|sip):[a-z0-9._~!$&()*+,;=:@-]+$/i;
const URI_PART = new RegExp(`^(?![a-z0-9]*:)${SEGMENT}$`, 'i');
const UUID = /^(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;
const RELATIVE_POINTER = /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export function isDate(text: string): boolean {
  const [, year = 0, month = 0, day = 0] = (DATE.exec(text) ?? []).map(Number);
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 && isLeap ? 29 : (MONTH_DAYS[month - 1] ?? 0);
  return day >= 1 && day <= days;
}

function isTime(text: string, form = TIME): boolean {
  const parts = form
    .exec(text)
    ?.slice(1)
    .map((part) => Number(part ?? 0));
  const [hours = 24, minutes = 0, seconds = 0, zoneHours = 0, zoneMinutes = 0] = parts ?? [];
  return hours < 24 && minutes < 60 && seconds < 60 && zoneHours < 24 && zoneMinutes < 60;
}

/** Whether both halves of a text are what they should be. A text without the mark has no second half. */
function isPair(mark: RegExp, first: (text: string) => boolean, second: (text: string) => boolean) {
  return (text: string): boolean => {
    const at = text.search(mark);
    return at !== -1 && first(text.slice(0, at)) && second(text.slice(at + 1));
  };
}

const matches = (form: RegExp) => (text: string) => form.test(text);
const isHost = (text: string) => text.length <= 253 && HOST.test(text);
const isEmail = isPair(/@/, matches(EMAIL_NAME), matches(DOMAIN));
const isIpv4 = (text: string) =>
  /^(?:\d{1,3}\.){3}\d{1,3}$/.test(text) &&
  text.split('.').every((part) => Number(part) < 256 && String(Number(part)) === part);
const isIpv6 = (text: string) =>
  /^[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){7}$/i.test(text) || /^::(?:[0-9a-f]{1,4})?$/i.test(text);
const isUri = (text: string) => {
  if (/%(?![0-9a-f]{2})/i.test(text) || (text.match(/#/g)?.length ?? 0) > 1) return false;
  const host = URI.exec(text)?.[1];
  return host === undefined ? OTHER_URI.test(text) : isHost(host);
};
const isUriPart = (text: string) =>
  URI_PART.test(text) && !/%/.test(text) && (text.match(/#/g)?.length ?? 0) < 2;
const isRegex = (text: string) => {
  try {
    readPattern(text);
    return new RegExp(text, 'u') !== undefined;
  } catch {
    return false;
  }
};

const secondOf = ({ nowMs }: Now) => `${isoTime(nowMs).slice(0, 19)}Z`;
const URLS = ['https://example.com', 'https://example.com/a', 'http://a.co', 'https://example.org'];
const EMAILS = ['user@example.com', 'info@example.com', 'a@b.co', 'user@example.org'];
const HOSTS = ['example.com', 'a.co', 'example.org', 'localhost'];
const uuid = (last: string) => `00000000-0000-4000-8000-${last.padStart(12, '0')}`;

const format = (
  isOne: Format['isOne'],
  samples: Format['samples'] | readonly string[],
): Format => ({
  isOne,
  samples: typeof samples === 'function' ? samples : () => samples,
});
const dates = (now: Now) => [secondOf(now).slice(0, 10), '2030-01-01', '2000-01-01'];
const times = (now: Now) => [secondOf(now).slice(11), '00:00:00Z', '12:00:00Z'];
const moments = (now: Now) => [secondOf(now), '2030-01-01T00:00:00Z', '2000-01-01T00:00:00Z'];
const isMoment = isPair(/[Tt ]/, isDate, (text) => isTime(text));
const isUriText = format((text) => isUri(text), URLS);
const uriPart = format((text) => isUri(text) || isUriPart(text), [...URLS, '/a', 'a', '']);
const anything = format(() => true, []);

/** The formats that are kept; one with another name promises nothing, as the dialect has it. */
const FORMATS: ReadonlyMap<string, Format> = new Map([
  ['date', format(isDate, dates)],
  ['time', format((text) => isTime(text), times)],
  ['date-time', format(isMoment, moments)],
  ['iso-time', format((text) => isTime(text) || isTime(text, PLAIN_TIME), times)],
  ['iso-date-time', format(isMoment, moments)],
  ['duration', format(matches(DURATION), ['PT1H', 'P1D', 'P1W', 'PT1M'])],
  ['email', format(isEmail, EMAILS)],
  ['idn-email', format(isEmail, EMAILS)],
  ['hostname', format(isHost, HOSTS)],
  ['idn-hostname', format(isHost, HOSTS)],
  ['ipv4', format(isIpv4, ['192.0.2.1', '192.0.2.2', '0.0.0.0', '127.0.0.1'])],
  ['ipv6', format(isIpv6, ['2001:db8:0:0:0:0:0:1', '::1', '::2', '::'])],
  ['uri', isUriText],
  [
    'url',
    format((text) => isUri(text) && /^(?:https?|ftp):\/\/[^/]+\.[a-z]{2,}/i.test(text), URLS),
  ],
  ['iri', isUriText],
  ['uri-reference', uriPart],
  ['iri-reference', uriPart],
  ['uri-template', uriPart],
  ['uuid', format(matches(UUID), ['1', '2', '3', '4', '5', '6', '7', '8'].map(uuid))],
  ['json-pointer', format(matches(POINTER), ['', '/a', '/b', '/0'])],
  [
    'json-pointer-uri-fragment',
    format(
      (text) => text === '#' || (/^#(?:\/[a-z0-9_.~-]*)+$/i.test(text) && !/~(?![01])/.test(text)),
      ['#', '#/a', '#/b'],
    ),
  ],
  ['relative-json-pointer', format(matches(RELATIVE_POINTER), ['0', '1', '0/a', '0#'])],
  ['regex', format(isRegex, ['a', 'b', '^a$', ''])],
  [
    'byte',
    format((text) => text !== '' && BASE64.test(text), ['AA==', 'AAAA', 'AQ==', 'AAAAAAAA']),
  ],
  ['password', anything],
  ['binary', anything],
]);

export const findFormat = (name: unknown): Format | undefined =>
  typeof name === 'string' ? FORMATS.get(name) : undefined;

const INT32 = 2 ** 31;

/** Whether a number is of a format that numbers have. */
export function isNumberOf(format: unknown, value: number): boolean {
  if (format === 'int32') return Number.isInteger(value) && value >= -INT32 && value < INT32;
  return format !== 'int64' || Number.isInteger(value);
}
