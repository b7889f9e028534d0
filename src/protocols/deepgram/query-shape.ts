import { z } from 'zod';
import { gatewayErrors } from '../../models/errors.ts';
import { SPEND_LIMITS } from '../../spend/limits.ts';
import { DEEPGRAM_LIMITS } from './limits.ts';

/** Boolean query parameter; false when it is missing. */
export const Flag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((value) => value === 'true');

/**
 * Returns the schema of an unsupported parameter that would change the result or its receiver. It is refused unless it is empty
 * or `false`.
 */
export const notDone = (why: string) =>
  z
    .string()
    .optional()
    .refine((value) => value === undefined || value === '' || value === 'false', why);

/**
 * Returns all values of a repeatable parameter, of which a parsed query has only the last. Throws the refusal of too many
 * values.
 */
export function valuesOf(rawQuery: string, name: string): string[] {
  const values = new URLSearchParams(rawQuery).getAll(name).filter((value) => value !== '');
  const isTooLong = values.some(({ length }) => length > SPEND_LIMITS.tag.idChars);
  if (values.length <= DEEPGRAM_LIMITS.keyterms && !isTooLong) return values;
  throw gatewayErrors.invalidRequest(`${name}: too many or too long`, name);
}
