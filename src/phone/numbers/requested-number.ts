import { countryOf } from '../dialling/country-of.ts';
import { phoneErrors } from '../errors.ts';

/** The number that a purchase asks for. An exact number wins when an area code is named, too. */
export type RequestedNumber =
  | { readonly kind: 'exact'; readonly phoneNumber: string }
  | { readonly kind: 'area'; readonly areaCode: string };

const AREA_CODE = /^[2-9][0-9]{2}$/;
const US_NUMBER = /^\+1[0-9]{10}$/;
const FOREIGN_NUMBER = /^\+(?!1)[1-9][0-9]{6,14}$/;

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === '';

/** Reads the body of a purchase. Throws when it is invalid. */
export function parseRequestedNumber(body: Readonly<Record<string, unknown>>): RequestedNumber {
  const { areaCode, phoneNumber } = body;
  if (!isAbsent(phoneNumber)) {
    const isNumber = (form: RegExp) => form.test(String(phoneNumber));
    if (typeof phoneNumber !== 'string' || ![US_NUMBER, FOREIGN_NUMBER].some(isNumber)) {
      throw phoneErrors.invalidPhoneNumber();
    }
    return { kind: 'exact', phoneNumber };
  }
  if (isAbsent(areaCode)) throw phoneErrors.areaCodeRequired();
  return { kind: 'area', areaCode: requireAreaCode(areaCode) };
}

/** Throws the refusal of anything but three digits, the first of them 2 to 9. */
export function requireAreaCode(areaCode: unknown): string {
  if (typeof areaCode !== 'string' || !AREA_CODE.test(areaCode)) {
    throw phoneErrors.invalidAreaCode();
  }
  return areaCode;
}

/** Returns the area code of a US number; null for a number of another country. */
export const areaCodeOf = (phoneNumber: string): string | null =>
  US_NUMBER.test(phoneNumber) ? phoneNumber.slice(2, 5) : null;

/**
 * Returns the country of a wanted number. Throws for a number outside the United States that cannot exist, or whose country the
 * operator does not allow.
 */
export async function requireCountry(
  wanted: RequestedNumber,
  countries: readonly string[],
): Promise<string> {
  if (wanted.kind === 'area' || US_NUMBER.test(wanted.phoneNumber)) return 'US';
  const country = await countryOf(wanted.phoneNumber);
  if (country === undefined || !countries.includes(country)) throw phoneErrors.invalidPhoneNumber();
  return country;
}
