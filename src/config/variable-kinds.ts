import { z } from 'zod';

/** Kinds of values that variables have. */

export const list = () =>
  z
    .string()
    .optional()
    .transform((text) =>
      (text ?? '')
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    );
export const flag = () =>
  z
    .string()
    .optional()
    .transform((text) => text === '1' || text === 'true');
export const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be a 0x address');
export const privateKey = z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex digits');
export const share = z.coerce.number().int().min(0).max(10_000);
/** Treats a variable that is set to an empty text as unset. */
export const unlessEmpty = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema);
export const optional = <T extends z.ZodType>(schema: T) => unlessEmpty(schema.optional());
export const text = () => optional(z.string());
