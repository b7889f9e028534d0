import { E164 } from '../e164.ts';

/** Returns the two-letter code of the country of a number. Undefined when no such number can exist. */
export async function countryOf(phoneNumber: string): Promise<string | undefined> {
  if (!E164.test(phoneNumber)) return undefined;
  // The library's numbering plans take 70 ms and 10 MB, and most servers rent numbers of the United States alone.
  const { default: parse } = await import('libphonenumber-js/max');
  const number = parse(phoneNumber);
  return number?.isValid() && number.number === phoneNumber ? number.country : undefined;
}
