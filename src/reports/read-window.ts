import { reportErrors } from './errors.ts';
import { REPORT_LIMITS } from './limits.ts';

const { most, usual } = REPORT_LIMITS.window;

/** Reads a number of days. Throws the refusal of a number beyond the bounds, and of any other text. */
export function readDays(text: string | undefined): number {
  if (text === undefined) return usual;
  const days = wholeNumber(text);
  if (days === undefined || days < 1 || days > most) throw invalidDays(text);
  return days;
}

/** Reads a number of days, and moves a number beyond the bounds to the nearest bound. */
export function clampDays(text: string | undefined): number {
  const days = text === undefined ? usual : wholeNumber(text);
  if (days === undefined) throw invalidDays(text ?? '');
  return Math.min(Math.max(days, 1), most);
}

const wholeNumber = (text: string): number | undefined =>
  /^-?\d{1,9}$/.test(text) ? Number(text) : undefined;

const invalidDays = (text: string) => reportErrors.invalidDays(text.slice(0, 32), most);

/** Reads the name of a window. Throws the refusal of any other text. */
export function readName<N extends string>(
  name: string,
  text: string | undefined,
  names: readonly N[],
  fallback: N,
): N {
  if (text === undefined) return fallback;
  const known = names.find((each) => each === text);
  if (known === undefined) throw reportErrors.invalidPeriod(name, text.slice(0, 32), names);
  return known;
}
