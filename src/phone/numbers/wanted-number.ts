import { errors } from '../../kernel/errors.ts';

/** What a purchase asks for. An exact number wins where both are named. */
export type WantedNumber =
  | { readonly kind: 'exact'; readonly phoneNumber: string }
  | { readonly kind: 'area'; readonly areaCode: string };

const AREA_CODE = /^[2-9][0-9]{2}$/;
const US_NUMBER = /^\+1[0-9]{10}$/;

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === '';

/** Reads the body of a purchase, or throws what is wrong with it. */
export function parseWantedNumber(body: Readonly<Record<string, unknown>>): WantedNumber {
  const { areaCode, phoneNumber } = body;
  if (!isAbsent(phoneNumber)) {
    if (typeof phoneNumber !== 'string' || !US_NUMBER.test(phoneNumber)) {
      throw errors.phone.invalidPhoneNumber();
    }
    return { kind: 'exact', phoneNumber };
  }
  if (isAbsent(areaCode)) throw errors.phone.areaCodeRequired();
  return { kind: 'area', areaCode: requireAreaCode(areaCode) };
}

/** Throws the refusal of anything but three digits, the first of them 2 to 9. */
export function requireAreaCode(areaCode: unknown): string {
  if (typeof areaCode !== 'string' || !AREA_CODE.test(areaCode)) {
    throw errors.phone.invalidAreaCode();
  }
  return areaCode;
}

/** The area code that a US number begins with. */
export const areaCodeOf = (phoneNumber: string): string => phoneNumber.slice(2, 5);
