import { z } from 'zod';

/** Size of a page in a query. A number out of range is clamped by the list that is asked. */
export const Limit = (usual: number) =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, 'must be a whole number')
    .default(String(usual))
    .transform(Number);
