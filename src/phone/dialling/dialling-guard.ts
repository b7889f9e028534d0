import type { NumberType } from 'libphonenumber-js/max';
import { E164 } from '../e164.ts';
import { type CallingHours, isWithinHours, zonesOf } from './calling-hours.ts';

export type DiallingPolicy = {
  /** Two-letter codes of the countries that may be called. */
  readonly countries: readonly string[];
  /** Hours in which calls may be placed, in the callee's time zone. */
  readonly callingHours: CallingHours;
  readonly nowMs: number;
  /** True when the number is on the account's do-not-call list. */
  readonly doNotCall: boolean;
};

/** Reasons why a number may not be called. */
export type DiallingRefusal =
  | 'not_e164'
  | 'invalid'
  | 'number_type'
  | 'country'
  | 'do_not_call'
  | 'calling_hours';

export type DiallingVerdict =
  | { readonly kind: 'allowed'; readonly country: string }
  /** Refusal. `message` is a sentence for the caller of the API, without its full stop. */
  | { readonly kind: 'refused'; readonly reason: DiallingRefusal; readonly message: string };

/** Number types that may be called. Any other type may cost more than an ordinary call, or reaches no person. */
const CALLED: ReadonlySet<NumberType> = new Set<NumberType>([
  'FIXED_LINE',
  'MOBILE',
  'FIXED_LINE_OR_MOBILE',
  'TOLL_FREE',
]);

/**
 * North American numbers that look like subscribers and are services: 911 and the like as the exchange, 976 at a premium rate,
 * and directory assistance.
 */
const NORTH_AMERICAN_SERVICE = /^\+1\d{3}(?:[2-9]11\d{4}|976\d{4}|5551212)$/;

const refused = (reason: DiallingRefusal, message: string): DiallingVerdict => ({
  kind: 'refused',
  reason,
  message,
});

/**
 * Judges a number: it must exist in a country of the policy, cost no more than a call, be off the do-not-call list, and have
 * a calling hour now. Pure; the numbering plans are loaded at the first call.
 */
export async function judgeNumber(
  toNumber: string,
  { callingHours, countries, doNotCall, nowMs }: DiallingPolicy,
): Promise<DiallingVerdict> {
  if (!E164.test(toNumber)) {
    return refused('not_e164', 'must be a number with its country, such as +14155550100');
  }
  // The library's numbering plans take 70 ms and 10 MB, which only a server that places calls needs.
  const { default: parse } = await import('libphonenumber-js/max');
  const number = parse(toNumber);
  if (number === undefined || !number.isValid() || number.number !== toNumber) {
    return refused('invalid', 'no such number can exist');
  }
  const type = number.getType();
  if (type === undefined || !CALLED.has(type) || NORTH_AMERICAN_SERVICE.test(toNumber)) {
    return refused('number_type', 'only ordinary and toll-free numbers are called');
  }
  const { country } = number;
  if (country === undefined || !countries.includes(country)) {
    return refused('country', `numbers of ${country ?? 'no country'} are not called`);
  }
  if (doNotCall) return refused('do_not_call', 'it is on the do-not-call list of the account');
  const isAnyHour = callingHours.from === 0 && callingHours.until === 24;
  // A toll-free number belongs to no time zone and is answered by a business.
  if (!isAnyHour && type !== 'TOLL_FREE') {
    const isCallingHour = isWithinHours(callingHours, zonesOf(toNumber, country), nowMs);
    if (!isCallingHour)
      return refused('calling_hours', 'it is not called at this hour of its place');
  }
  return { kind: 'allowed', country };
}

/**
 * Returns the time zones whose calling hours apply to a number. Undefined when none apply, since the number is toll-free or
 * invalid.
 */
export async function zonesToKeep(toNumber: string): Promise<readonly string[] | undefined> {
  const { default: parse } = await import('libphonenumber-js/max');
  const number = parse(toNumber);
  if (number?.country === undefined || number.getType() === 'TOLL_FREE') return undefined;
  return zonesOf(toNumber, number.country);
}
