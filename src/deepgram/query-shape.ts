import { z } from 'zod';

/** A parameter that is on or off, and off where it is missing. */
export const Flag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((value) => value === 'true');

/** A parameter that would change the result, or who gets it, and is not supported. */
export const notDone = (why: string) =>
  z
    .string()
    .optional()
    .refine((value) => value === undefined || value === '' || value === 'false', why);
